/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "elf/elf.h"
#include "proc/proc.h"
#include "sym/module.h"
#include "sym/frames.h"
#include "sym/syms.h"

struct range {
	unsigned long long start, end, offset;
	struct module *module;
};

/* The mappings of a process. */
struct mappings {
	int pid;
	struct range *ranges;	/* in address order */
	int n, room;
	unsigned long long refreshed;	/* time, ns */
	UT_hash_handle hh;
};

struct syms {
	struct modules modules;
	struct mappings *processes;
	struct stack *stacks;
	long nranges, nstacks;	/* nstacks: bytes */
};

/* After a miss the mappings are read again, but not every time: code generated at run time is in no
 * file. */
static const unsigned long long LOOK_AGAIN_NS = 100 * 1000000ull;

enum { MANY = 4096 /* processes: time to check which still exist */ };

/* Limits on what all programs together can make the tool keep: mappings, bytes of stacks. */
enum { MAX_RANGES = 1 << 23, MAX_STACKS = 256 << 20 };

struct syms *syms_new(void)
{
	struct syms *s = xcalloc(1, sizeof(*s));

	modules_init(&s->modules);
	return s;
}

static struct mappings *find(const struct syms *s, int pid)
{
	struct mappings *p;

	HASH_FIND_INT(s->processes, &pid, p);
	return p;
}

static void forget(struct syms *s, struct mappings *p)
{
	HASH_DEL(s->processes, p);
	s->nranges -= p->room;
	free(p->ranges);
	free(p);
}

void syms_free(struct syms *s)
{
	struct mappings *p, *next_process;
	struct stack *stack, *next_stack;

	if (!s)
		return;
	HASH_ITER(hh, s->processes, p, next_process)
		forget(s, p);
	HASH_ITER(hh, s->stacks, stack, next_stack) {
		HASH_DEL(s->stacks, stack);
		free(stack);
	}
	modules_free(&s->modules);
	free(s);
}

struct refresh {
	struct syms *syms;
	struct mappings *process;
	int n;
};

static bool on_mapping(void *ctx, const struct mapping *map)
{
	struct refresh *r = ctx;
	struct mappings *p = r->process;

	if (r->n == p->room) {
		if (modules_full(&r->syms->modules, r->syms->nranges, MAX_RANGES, "mappings"))
			return false;
		r->syms->nranges += p->room ? p->room : 64;
		p->room = p->room ? 2 * p->room : 64;
		p->ranges = xrealloc(p->ranges, p->room, sizeof(*p->ranges));
	}
	p->ranges[r->n++] = (struct range){
		map->start, map->end, map->offset, modules_get(&r->syms->modules, p->pid, map),
	};
	return true;
}

/* Most process exits are reported, but not those of processes that sent no record. */
static void forget_the_dead(struct syms *s)
{
	struct mappings *p, *next;

	HASH_ITER(hh, s->processes, p, next)
		if (kill(p->pid, 0) && errno == ESRCH)
			forget(s, p);
}

static struct mappings *refresh(struct syms *s, int pid)
{
	struct refresh r = { .syms = s, .process = find(s, pid) };
	struct mappings *p = r.process;

	if (!p) {
		if (HASH_COUNT(s->processes) % MANY == MANY - 1)
			forget_the_dead(s);
		p = r.process = xcalloc(1, sizeof(*p));
		p->pid = pid;
		HASH_ADD_INT(s->processes, pid, p);
	}
	p->refreshed = clock_ns();
	/* keep what is known about a process that has ended */
	if (!proc_mappings(pid, on_mapping, &r) && r.n)
		p->n = r.n;
	return p;
}

void syms_refresh(struct syms *s, int pid)
{
	if (s)
		refresh(s, pid);
}

void syms_each(const struct syms *s, void (*fn)(void *ctx, int pid), void *ctx)
{
	for (struct mappings *p = s ? s->processes : NULL; p; p = p->hh.next)
		fn(ctx, p->pid);
}

void syms_forget(struct syms *s, int pid)
{
	struct mappings *p = s ? find(s, pid) : NULL;

	if (p)
		forget(s, p);
}

static const struct range *range_at(const struct mappings *p, unsigned long long addr)
{
	int low = 0, high = p->n;

	while (low < high) {
		int mid = low + (high - low) / 2;

		if (p->ranges[mid].end <= addr)
			low = mid + 1;
		else
			high = mid;
	}
	return low < p->n && p->ranges[low].start <= addr ? &p->ranges[low] : NULL;
}

static struct stack_frame frame_of(struct syms *s, struct mappings *p, unsigned long long addr)
{
	const struct range *r = range_at(p, addr);

	if (!r && clock_ns() - p->refreshed > LOOK_AGAIN_NS) {
		refresh(s, p->pid);
		r = range_at(p, addr);
	}
	if (!r)
		return (struct stack_frame){ NULL, addr };
	return (struct stack_frame){ r->module, addr - r->start + r->offset };
}

static struct mappings *mappings_of(struct syms *s, int pid)
{
	struct mappings *p = find(s, pid);

	return p ? p : refresh(s, pid);
}

const struct stack *stack_get(struct syms *s, int pid, const unsigned long long *addrs, int n)
{
	struct stack *stack, *found;
	struct mappings *p;

	if (!s || !n)
		return NULL;
	p = mappings_of(s, pid);
	stack = xcalloc(1, sizeof(*stack) + n * sizeof(*stack->frames));
	stack->n = n;
	for (int i = 0; i < n; i++)
		stack->frames[i] = frame_of(s, p, addrs[i]);
	HASH_FIND(hh, s->stacks, stack->frames, n * sizeof(*stack->frames), found);
	if (found || modules_full(&s->modules, s->nstacks, MAX_STACKS, "call stacks")) {
		free(stack);
		return found;
	}
	s->nstacks += sizeof(*stack) + n * sizeof(*stack->frames);
	HASH_ADD(hh, s->stacks, frames, n * sizeof(*stack->frames), stack);
	return stack;
}

const char *syms_function(struct syms *s, int pid, unsigned long long addr)
{
	unsigned long long off = 0;
	struct stack_frame f;
	const char *name;

	if (!s)
		return NULL;
	f = frame_of(s, mappings_of(s, pid), addr);
	name = f.module ? module_symbol(f.module, f.at, &off) : NULL;
	return off ? NULL : name;
}

static void each_variable(const struct range *r, const char *end, syms_variable_fn *fn, void *ctx)
{
	const struct elf_variable *variables;
	unsigned long long at;
	int n;

	if (r->module->fd < 0)
		return;
	variables = module_variables(r->module, end, &n);
	if (!n || !elf_address(r->module->fd, r->offset, &at))
		return;
	for (int i = 0; i < n; i++)
		fn(ctx, variables[i].name, variables[i].addr - at + r->start);
}

void syms_variables(struct syms *s, int pid, const char *end, syms_variable_fn *fn, void *ctx)
{
	const struct mappings *p = s ? mappings_of(s, pid) : NULL;

	for (int i = 0; p && i < p->n; i++)
		if (!i || p->ranges[i - 1].module != p->ranges[i].module)
			each_variable(&p->ranges[i], end, fn, ctx);
}
