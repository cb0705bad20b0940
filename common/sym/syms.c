/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "sym/demangle.h"
#include "base/die.h"
#include "elf/elf.h"
#include "base/escape.h"
#include "base/hash.h"
#include "proc/proc.h"
#include "sym/syms.h"

/* A file that code came from.  Its descriptor keeps it readable, and its inode its own. */
struct module {
	char *key;		/* device, inode and path */
	const char *path;	/* within key */
	int fd;			/* -errno if it could not be opened */
	bool read;
	struct elf_symbols *symbols;
	bool searched;		/* for the variables of syms_variables() */
	struct elf_variable *variables;
	int nvariables;
	UT_hash_handle hh;
};

struct range {
	unsigned long long start, end, offset;
	struct module *module;
};

struct process {
	int pid;
	struct range *ranges;	/* in address order */
	int n, room;
	unsigned long long refreshed;	/* when, ns */
	UT_hash_handle hh;
};

struct frame {
	struct module *module;	/* NULL: not known, at is the address */
	unsigned long long at;	/* the file offset */
};

struct stack {
	UT_hash_handle hh;
	int n;
	struct frame frames[];
};

/* A miss in the mappings is a reason to read them again, but not each time: code made at
 * run time is in no file. */
static const unsigned long long LOOK_AGAIN_NS = 100 * 1000000ull;

enum { MANY = 4096 /* processes: time to look whether they still are */ };

/* What programs may make the tool keep: variables of a file; and of all together mappings, bytes
 * of stacks, and of the files that it may have open the part that others leave it. */
enum { MAX_VARIABLES = 1 << 17, MAX_RANGES = 1 << 23, MAX_STACKS = 256 << 20, OPEN_PART = 2 };

static bool enabled;
static struct module *modules;
static struct process *processes;
static struct stack *stacks;
static long nranges, nstacks, nopen, max_open;

void syms_init(void)
{
	enabled = true;
	max_open = sysconf(_SC_OPEN_MAX) / OPEN_PART;
}

/* Is there no room for more? */
static bool is_full(long used, long max, const char *what)
{
	static bool said;

	if (used <= max)
		return false;
	if (!said)
		warning(0, "too many %s in the traced programs: some functions will have no names", what);
	said = true;
	return true;
}

static int open_file(int pid, const struct mapping *map)
{
	int fd = is_full(nopen, max_open, "files") ? -EMFILE : proc_open_mapping(pid, map);

	nopen += fd >= 0;
	return fd;
}

static struct module *module_of(int pid, const struct mapping *map)
{
	char *key = xprintf("%llx:%llu:%s", map->dev, map->ino, map->path);
	struct module *m;

	HASH_FIND_STR(modules, key, m);
	if (m && m->fd < 0) {	/* another process may let us at it */
		m->fd = open_file(pid, map);
		m->read = false;
	}
	if (m) {
		free(key);
		return m;
	}
	m = xcalloc(1, sizeof(*m));
	m->key = key;
	m->path = strchr(strchr(key, ':') + 1, ':') + 1;
	m->fd = open_file(pid, map);
	HASH_ADD_KEYPTR(hh, modules, m->key, strlen(m->key), m);
	return m;
}

struct looking {
	struct process *process;
	int n;
};

static bool on_mapping(void *ctx, const struct mapping *map)
{
	struct looking *l = ctx;
	struct process *p = l->process;
	struct range *r;

	if (l->n == p->room) {
		if (is_full(nranges, MAX_RANGES, "mappings"))
			return false;
		nranges += p->room ? p->room : 64;
		p->room = p->room ? 2 * p->room : 64;
		p->ranges = xrealloc(p->ranges, p->room, sizeof(*p->ranges));
	}
	r = &p->ranges[l->n++];
	*r = (struct range){ map->start, map->end, map->offset, module_of(p->pid, map) };
	return true;
}

/* Most processes that end are told of, but not those that made no record. */
static void forget_the_dead(void)
{
	struct process *p, *next;

	HASH_ITER(hh, processes, p, next)
		if (kill(p->pid, 0) && errno == ESRCH)
			syms_forget(p->pid);
}

void syms_refresh(int pid)
{
	struct looking l = { NULL, 0 };
	struct process *p;

	if (!enabled)
		return;
	HASH_FIND_INT(processes, &pid, p);
	if (!p) {
		if (HASH_COUNT(processes) % MANY == MANY - 1)
			forget_the_dead();
		p = xcalloc(1, sizeof(*p));
		p->pid = pid;
		HASH_ADD_INT(processes, pid, p);
	}
	l.process = p;
	p->refreshed = clock_ns();
	/* what is known of a process that has ended stays */
	if (!proc_mappings(pid, on_mapping, &l) && l.n)
		p->n = l.n;
}

void syms_each(void (*fn)(int pid))
{
	for (struct process *p = processes; p; p = p->hh.next)
		fn(p->pid);
}

void syms_forget(int pid)
{
	struct process *p;

	HASH_FIND_INT(processes, &pid, p);
	if (!p)
		return;
	HASH_DEL(processes, p);
	nranges -= p->room;
	free(p->ranges);
	free(p);
}

static const struct range *range_at(const struct process *p, unsigned long long addr)
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

static struct frame frame_of(struct process *p, unsigned long long addr)
{
	const struct range *r = range_at(p, addr);

	if (!r && clock_ns() - p->refreshed > LOOK_AGAIN_NS) {
		syms_refresh(p->pid);
		r = range_at(p, addr);
	}
	if (!r)
		return (struct frame){ NULL, addr };
	return (struct frame){ r->module, addr - r->start + r->offset };
}

const struct stack *stack_get(int pid, const unsigned long long *addrs, int n)
{
	struct stack *s, *found;
	struct process *p;

	if (!enabled || !n)
		return NULL;
	HASH_FIND_INT(processes, &pid, p);
	if (!p) {
		syms_refresh(pid);
		HASH_FIND_INT(processes, &pid, p);
	}
	s = xcalloc(1, sizeof(*s) + n * sizeof(*s->frames));
	s->n = n;
	for (int i = 0; i < n; i++)
		s->frames[i] = frame_of(p, addrs[i]);
	HASH_FIND(hh, stacks, s->frames, n * sizeof(*s->frames), found);
	if (found || is_full(nstacks, MAX_STACKS, "call stacks")) {
		free(s);
		return found;
	}
	nstacks += sizeof(*s) + n * sizeof(*s->frames);
	HASH_ADD(hh, stacks, frames, n * sizeof(*s->frames), s);
	return s;
}

static const struct elf_symbols *symbols_of(struct module *m)
{
	if (!m->read && m->fd >= 0) {
		m->symbols = elf_symbols_load(m->fd);
		m->read = true;
	}
	return m->symbols;
}

static struct process *process_of(int pid)
{
	struct process *p;

	HASH_FIND_INT(processes, &pid, p);
	if (!p && enabled) {
		syms_refresh(pid);
		HASH_FIND_INT(processes, &pid, p);
	}
	return p;
}

const char *syms_function(int pid, unsigned long long addr)
{
	struct process *p = process_of(pid);
	unsigned long long off = 0;
	const struct elf_symbols *s;
	struct frame f;
	const char *name;

	if (!p)
		return NULL;
	f = frame_of(p, addr);
	s = f.module ? symbols_of(f.module) : NULL;
	name = s ? elf_symbols_find(s, f.at, &off) : NULL;
	return off ? NULL : name;
}

void syms_variables(int pid, const char *end, syms_variable_fn *fn, void *ctx)
{
	struct process *p = process_of(pid);
	const struct range *r;
	unsigned long long at;

	for (int i = 0; p && i < p->n; i++) {
		struct module *m = p->ranges[i].module;

		r = &p->ranges[i];
		if ((i && r[-1].module == m) || m->fd < 0)
			continue;
		if (!m->searched)
			m->variables = elf_variables(m->fd, end, MAX_VARIABLES, &m->nvariables);
		m->searched = true;
		if (!m->nvariables || !elf_address(m->fd, r->offset, &at))
			continue;
		for (int j = 0; j < m->nvariables; j++)
			fn(ctx, m->variables[j].name, m->variables[j].addr - at + r->start);
	}
}

/* A return address is just behind the call, perhaps in the next function already. */
static const char *name_of(const struct frame *f, unsigned long long *off)
{
	struct module *m = f->module;
	const char *name;

	if (!m)
		return NULL;
	name = symbols_of(m) ? elf_symbols_find(m->symbols, f->at - 1, off) : NULL;
	++*off;
	return name ? demangle(name) : NULL;
}

bool stack_frame(const struct stack *s, int i, const char **name)
{
	unsigned long long off;

	if (!s || i >= s->n)
		return false;
	*name = name_of(&s->frames[i], &off);
	return true;
}

static void print_text(const char *sym, unsigned long long off, const struct frame *f)
{
	fputs("        ", stdout);
	if (sym) {
		escape_text(stdout, sym);
		printf("+0x%llx", off);
	} else {
		printf(f->module ? "[no symbol] +0x%llx" : "[unknown] 0x%llx", f->at);
	}
	if (f->module) {
		fputs(" (", stdout);
		escape_text(stdout, f->module->path);
		putchar(')');
	}
	putchar('\n');
}

void stack_text(const struct stack *s)
{
	if (enabled && !s)
		puts("        [no stack]");
	for (int i = 0; s && i < s->n; i++) {
		unsigned long long off = 0;
		const char *sym = name_of(&s->frames[i], &off);

		print_text(sym, off, &s->frames[i]);
	}
}

void stack_json(const struct stack *s)
{
	putchar('[');
	for (int i = 0; s && i < s->n; i++) {
		const struct frame *f = &s->frames[i];
		unsigned long long off = 0;
		const char *sym = name_of(f, &off);

		fputs(i ? ",{\"sym\":" : "{\"sym\":", stdout);
		if (sym)
			escape_json(stdout, sym);
		else
			fputs("null", stdout);
		printf(",\"off\":\"0x%llx\",\"file\":", sym ? off : f->at);
		if (f->module)
			escape_json(stdout, f->module->path);
		else
			fputs("null", stdout);
		putchar('}');
	}
	putchar(']');
}

/* ';' and line ends separate frames and stacks there */
void stack_folded_name(const char *s)
{
	char *name = xstrdup(s);

	for (char *at = name; (at = strchr(at, ';')); )
		*at = ':';
	escape_text(stdout, name);
	free(name);
}

void stack_folded(const struct stack *s)
{
	if (!s)
		fputs("[no stack]", stdout);
	for (int i = s ? s->n - 1 : -1; i >= 0; i--) {
		unsigned long long off = 0;
		const char *sym = name_of(&s->frames[i], &off);

		if (sym)
			stack_folded_name(sym);
		else
			fputs("[unknown]", stdout);
		if (i)
			putchar(';');
	}
}
