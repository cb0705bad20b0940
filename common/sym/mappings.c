/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include "base/clock.h"
#include "proc/helper_files.h"
#include "proc/user.h"
#include "python/python.h"
#include "sym/jit.h"
#include "sym/mappings.h"
#include "unwind/unwind.h"

/* After a miss the mappings are read again, but not more often than this: code generated at run time is
 * in no file. */
enum { MISSES = 10 };
static const unsigned long long MISSES_NS = 1000 * 1000000ull;

/* A token bucket for each process: one that has many mappings and changes them all the time would keep the
 * tool from the others' until they are gone. */
enum { SHARE = 8 };
static const long long BURST_NS = 500 * 1000000ll;

enum { MANY = 4096 /* processes: time to check which still exist */ };

struct mappings *mappings_find(const struct syms *s, int pid)
{
	struct mappings *p;

	HASH_FIND_INT(s->processes, &pid, p);
	return p;
}

static void free_ranges(struct range *ranges, size_t n)
{
	for (size_t i = 0; i < n; i++)
		module_put(ranges[i].module);
	free(ranges);
}

void mappings_forget(struct syms *s, struct mappings *p)
{
	python_forget(s->python, p->pid);
	unwinder_forget(s->unwinder, p->pid);
	jit_forget(s->jit, p->pid);
	HASH_DEL(s->processes, p);
	quota_give(&s->ranges_quota, p->user, p->n * sizeof(*p->ranges));
	free_ranges(p->ranges, p->n);
	free(p);
}

struct refresh {
	struct syms *syms;
	struct mappings *process;
	struct range *ranges;
	size_t n, room;
};

/* Takes from the quota what exceeds the ranges that this will replace. */
static bool on_mapping(void *ctx, const struct mapping *map)
{
	struct refresh *r = ctx;
	struct mappings *p = r->process;
	struct syms *s = r->syms;

	if (r->n >= p->n && !quota_take(&s->ranges_quota, p->user, p->pid, sizeof(*r->ranges)))
		return false;
	ALLOC_GROW(r->ranges, r->n, r->room);
	r->ranges[r->n++] = (struct range){
		map->start, map->end, map->offset, modules_get(&s->modules, p->pid, p->user, map),
	};
	return true;
}

/* Most process exits are reported, but not those of processes that sent no record. */
static void forget_the_dead(struct syms *s)
{
	struct mappings *p, *next;

	HASH_ITER(hh, s->processes, p, next)
		if (kill(p->pid, 0) && errno == ESRCH)
			mappings_forget(s, p);
}

static struct mappings *add_process(struct syms *s, int pid)
{
	struct mappings *p;

	if (HASH_COUNT(s->processes) % MANY == MANY - 1)
		forget_the_dead(s);
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	p->user = proc_user(pid);
	p->left = BURST_NS;
	p->filled = clock_ns();
	HASH_ADD_INT(s->processes, pid, p);
	quota_take(&s->ranges_quota, p->user, pid, 0);
	return p;
}

static void tell_python(struct syms *s, int pid, const struct range *r)
{
	struct module *m = r->module;

	if (m)
		python_mapping(s->python, pid, &(struct python_file){ m->key, m->path, m->fd, &m->python },
			       r->start, r->offset);
}

/* The program is what has no suffix: the libraries of a process are many, and read when they have a frame. */
const struct elf_go *mappings_go(const struct mappings *p)
{
	for (size_t i = 0; i < p->n; i++) {
		struct module *m = p->ranges[i].module;

		if (m && !strstr(m->path, ".so"))
			return module_go(m)->is ? &m->go : NULL;
	}
	return NULL;
}

static void find_go(struct syms *s, const struct mappings *p)
{
	const struct elf_go *go = s->unwinder ? mappings_go(p) : NULL;

	if (go)
		unwinder_go(s->unwinder, p->pid, p->user, go);
}

static bool is_same(const struct mappings *p, const struct refresh *r)
{
	bool same = p->n == r->n;

	for (size_t i = 0; same && i < p->n; i++)
		same = p->ranges[i].start == r->ranges[i].start && p->ranges[i].end == r->ranges[i].end &&
		       p->ranges[i].offset == r->ranges[i].offset && p->ranges[i].module == r->ranges[i].module;
	return same;
}

static void replace_ranges(struct syms *s, struct mappings *p, const struct refresh *r)
{
	if (!is_same(p, r))
		unwinder_changed(s->unwinder, p->pid);
	if (r->n < p->n)
		quota_give(&s->ranges_quota, p->user, (p->n - r->n) * sizeof(*r->ranges));
	free_ranges(p->ranges, p->n);
	p->ranges = r->ranges;
	p->n = r->n;
	for (size_t i = 0; i < p->n; i++)
		tell_python(s, p->pid, &p->ranges[i]);
	find_go(s, p);
}

static void drop_new(struct syms *s, const struct mappings *p, const struct refresh *r)
{
	if (r->n > p->n)
		quota_give(&s->ranges_quota, p->user, (r->n - p->n) * sizeof(*r->ranges));
	free_ranges(r->ranges, r->n);
}

static void read_mappings(struct syms *s, struct mappings *p)
{
	struct refresh r = { .syms = s, .process = p };
	int err;

	p->changed = false;
	err = helper_mappings(s->modules.helpers, p->pid, false, on_mapping, &r);
	p->read = !err;
	/* keep what is known about a process that has ended */
	if ((err && err != -E2BIG) || !r.n)
		drop_new(s, p, &r);
	else
		replace_ranges(s, p, &r);
}

static bool may_read(struct mappings *p, unsigned long long now)
{
	p->left += (now - p->filled) / SHARE;
	p->filled = now;
	if (p->left > BURST_NS)
		p->left = BURST_NS;
	return p->left > 0;
}

struct mappings *mappings_refresh(struct syms *s, int pid)
{
	unsigned long long began = clock_ns();
	struct mappings *p = mappings_find(s, pid);

	if (!p)
		p = add_process(s, pid);
	if (may_read(p, began)) {
		read_mappings(s, p);
		p->left -= clock_ns() - began;
	}
	return p;
}

struct mappings *mappings_of(struct syms *s, int pid)
{
	struct mappings *p = mappings_find(s, pid);

	return p && !p->changed ? p : mappings_refresh(s, pid);
}

static const struct range *range_at(const struct mappings *p, unsigned long long addr)
{
	size_t low = 0, high = p->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (p->ranges[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->n && p->ranges[low].start <= addr ? &p->ranges[low] : NULL;
}

static bool may_look_again(struct mappings *p)
{
	unsigned long long now = clock_ns();

	if (now - p->missed > MISSES_NS) {
		p->missed = now;
		p->misses = 0;
	}
	return p->misses++ < MISSES;
}

struct module *mappings_module(struct syms *s, struct mappings *p, unsigned long long addr,
			       unsigned long long *at)
{
	const struct range *r = range_at(p, addr);

	if (!r && may_look_again(p)) {
		mappings_refresh(s, p->pid);
		r = range_at(p, addr);
	}
	*at = r ? addr - r->start + r->offset : addr;
	return r ? r->module : NULL;
}
