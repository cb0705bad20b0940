/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include "abi/python.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "elf/elf.h"
#include "proc/look_files.h"
#include "proc/user.h"
#include "python/python.h"
#include "sym/frames.h"
#include "sym/jit.h"
#include "sym/lines.h"
#include "sym/module.h"
#include "sym/stack_losses.h"
#include "sym/syms.h"
#include "unwind/unwind.h"

struct range {
	unsigned long long start, end, offset;
	struct module *module;
};

/* The mappings of a process. */
struct mappings {
	int pid;
	unsigned user;		/* whose quota it takes from */
	struct range *ranges;	/* in address order */
	size_t n;
	bool changed;		/* since they were read */
	bool read;		/* the last time that they should be */
	unsigned long long missed;	/* when misses were counted from, ns */
	unsigned misses;
	UT_hash_handle hh;
};

struct syms {
	struct modules modules;
	struct mappings *processes;
	struct stack *stacks;
	struct quota ranges_quota, stacks_quota;	/* bytes */
	struct stack_config config;
	struct python *python;
	struct unwinder *unwinder;
	struct stack_losses losses;
	struct jit_maps *jit;
	struct lines *lines;
};

/* After a miss the mappings are read again, but not more often than this: code generated at run time is
 * in no file. */
enum { MISSES = 10 };
static const unsigned long long MISSES_NS = 1000 * 1000000ull;

enum { MANY = 4096 /* processes: time to check which still exist */ };

/* Limits on what programs can make the tool keep: bytes. */
enum { MAX_RANGES = 64 << 20, MAX_STACKS = 32 << 20 };

struct syms *syms_new(struct looks *looks, const struct stack_config *config)
{
	struct syms *s = xcalloc(1, sizeof(*s));

	s->config = *config;
	modules_init(&s->modules, looks);
	s->jit = jit_maps_new(looks, &s->modules.symbols);
	s->ranges_quota = (struct quota){
		.limit = MAX_RANGES, .what = "memory for mappings",
		.loss = "some functions of its processes have no names",
	};
	s->stacks_quota = (struct quota){
		.limit = MAX_STACKS, .what = "memory for call stacks",
		.loss = "further ones of its processes are left out",
	};
	return s;
}

void syms_show_lines(struct syms *s)
{
	if (!s->lines)
		s->lines = lines_new(s->modules.looks);
}

struct lines *syms_lines(const struct syms *s)
{
	return s ? s->lines : NULL;
}

struct looks *syms_looks(const struct syms *s)
{
	return s ? s->modules.looks : NULL;
}

static struct mappings *find(const struct syms *s, int pid)
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

static void forget(struct syms *s, struct mappings *p)
{
	python_forget(s->python, p->pid);
	unwinder_forget(s->unwinder, p->pid);
	jit_forget(s->jit, p->pid);
	HASH_DEL(s->processes, p);
	quota_give(&s->ranges_quota, p->user, p->n * sizeof(*p->ranges));
	free_ranges(p->ranges, p->n);
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
	unwinder_free(s->unwinder);
	python_free(s->python);
	jit_maps_free(s->jit);
	lines_free(s->lines);
	modules_free(&s->modules);
	quota_free(&s->ranges_quota);
	quota_free(&s->stacks_quota);
	free(s);
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
	if (r->n == r->room) {
		r->room = r->room ? 2 * r->room : 64;
		r->ranges = xrealloc(r->ranges, r->room, sizeof(*r->ranges));
	}
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
			forget(s, p);
}

static struct mappings *add_process(struct syms *s, int pid)
{
	struct mappings *p;

	if (HASH_COUNT(s->processes) % MANY == MANY - 1)
		forget_the_dead(s);
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	p->user = proc_user(pid);
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
		unwinder_forget(s->unwinder, p->pid);
	if (r->n < p->n)
		quota_give(&s->ranges_quota, p->user, (p->n - r->n) * sizeof(*r->ranges));
	free_ranges(p->ranges, p->n);
	p->ranges = r->ranges;
	p->n = r->n;
	for (size_t i = 0; i < p->n; i++)
		tell_python(s, p->pid, &p->ranges[i]);
}

static void drop_new(struct syms *s, const struct mappings *p, const struct refresh *r)
{
	if (r->n > p->n)
		quota_give(&s->ranges_quota, p->user, (r->n - p->n) * sizeof(*r->ranges));
	free_ranges(r->ranges, r->n);
}

static struct mappings *refresh(struct syms *s, int pid)
{
	struct mappings *p = find(s, pid);
	struct refresh r = { .syms = s };
	int err;

	if (!p)
		p = add_process(s, pid);
	r.process = p;
	p->changed = false;
	err = look_mappings(s->modules.looks, pid, false, on_mapping, &r);
	p->read = !err;
	/* keep what is known about a process that has ended */
	if ((err && err != -E2BIG) || !r.n)
		drop_new(s, p, &r);
	else
		replace_ranges(s, p, &r);
	return p;
}

void syms_refresh(struct syms *s, int pid)
{
	if (s)
		refresh(s, pid);
}

void syms_changed(struct syms *s, int pid)
{
	struct mappings *p = s ? find(s, pid) : NULL;

	if (!p)
		return;
	p->changed = true;
	unwinder_forget(s->unwinder, pid);
}

void syms_tick(struct syms *s)
{
	if (!s)
		return;
	modules_read_ahead(&s->modules);
	python_tick(s->python);
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

static struct stack_frame native_frame(struct syms *s, struct mappings *p, unsigned long long addr)
{
	const struct range *r = range_at(p, addr);

	if (!r && may_look_again(p)) {
		refresh(s, p->pid);
		r = range_at(p, addr);
	}
	if (!r)
		return (struct stack_frame){ FRAME_KIND_NATIVE, NULL, addr };
	return (struct stack_frame){ FRAME_KIND_NATIVE, r->module, addr - r->start + r->offset };
}

/* A return address is just after the call. */
static struct stack_frame generated_frame(struct syms *s, int pid, struct stack_frame native)
{
	unsigned long long off;
	const char *name = jit_name(s->jit, pid, native.at - 1, &off);

	return name ? (struct stack_frame){ FRAME_KIND_JIT, name, off + 1 } : native;
}

static struct stack_frame python_frame(struct syms *s, int pid, unsigned long long frame)
{
	return (struct stack_frame){
		FRAME_KIND_PYTHON, python_code(s->python, pid, frame),
		python_line(s->python, pid, frame) | (frame & FRAME_PYTHON_ENTRY ? FRAME_AT_ENTRY : 0),
	};
}

/* What has no rules, or bad ones, is in a file. */
static struct stack_frame note_frame(struct syms *s, struct mappings *p, unsigned long long frame)
{
	struct stack_frame f = { FRAME_KIND_NOTE, NULL, frame };
	enum frame_note note = frame_note_of(frame);

	if (note == NOTE_NO_RULES || note == NOTE_BAD_RULES)
		f.what = native_frame(s, p, (frame & FRAME_VALUE_MASK) - 1).what;
	return f;
}

static struct stack_frame frame_of(struct syms *s, struct mappings *p, unsigned long long frame)
{
	struct stack_frame f;

	if (frame & FRAME_PYTHON)
		return python_frame(s, p->pid, frame);
	if (frame & FRAME_NOTE)
		return note_frame(s, p, frame);
	f = native_frame(s, p, frame & FRAME_VALUE_MASK);
	if (!f.what)
		return generated_frame(s, p->pid, f);
	f.at |= frame & FRAME_EXACT;
	return f;
}

static struct mappings *mappings_of(struct syms *s, int pid)
{
	struct mappings *p = find(s, pid);

	return p && !p->changed ? p : refresh(s, pid);
}

/* For the unwinder. */
static void find_code(void *ctx, int pid, unsigned long long addr, struct unwind_code *code)
{
	struct syms *s = ctx;
	struct mappings *p = mappings_of(s, pid);
	struct stack_frame f = native_frame(s, p, addr);

	code->in_file = f.what;
	code->offset = f.at;
	code->sure = f.what ? module_cfi(frame_module(&f), f.at, &code->cfi) : p->read;
}

void syms_open(struct syms *s, const struct bpf_object *obj)
{
	if (!s)
		return;
	if (s->config.python)
		s->python = python_new(s->modules.looks, obj);
	if (!s->config.dwarf || !s->config.native)
		return;
	s->unwinder = unwinder_new(obj, find_code, s);
	if (!s->unwinder)
		die(errno, "cannot open the maps for call stacks");
}

void syms_record(struct syms *s, const void *data, size_t size)
{
	const struct record *r = data;

	if (!s)
		return;
	if (r->kind == RECORD_CODE)
		python_record(s->python, data, size);
	else if (size >= sizeof(struct stack_copy))
		unwinder_copy(s->unwinder, data, size, mappings_of(s, r->pid)->user);
}

/* The frames of a record, those of a copy included. */
struct frames {
	unsigned long long at[STACK_FRAMES + STACK_NATIVE];
	int n;
};

static void add_frames(struct frames *to, const unsigned long long *frames, int n)
{
	for (int i = 0; i < n && to->n < STACK_FRAMES + STACK_NATIVE; i++)
		to->at[to->n++] = frames[i];
}

static void expand(struct syms *s, const unsigned long long *frames, int n, struct frames *to)
{
	static const unsigned long long lost[] = { FRAME_NOTE_OF(NOTE_LOST, 0) };
	const unsigned long long *copied;
	int ncopied = 1;

	to->n = 0;
	if (n && (*frames & ~FRAME_VALUE_MASK) == FRAME_NOTE_OF(NOTE_COPIED, 0)) {
		copied = unwinder_frames(s->unwinder, *frames & FRAME_VALUE_MASK, &ncopied);
		add_frames(to, copied ?: lost, ncopied);
		frames++;
		n--;
	} else if (n && !*frames) {
		frames++;
		n--;
	}
	add_frames(to, frames, n);
}

static struct stack *find_stack(struct syms *s, const struct stack_frame *frames, int n)
{
	struct stack *stack;

	HASH_FIND(hh, s->stacks, frames, n * sizeof(*frames), stack);
	return stack;
}

struct stack *stack_of(struct syms *s, const struct stack_frame *frames, int n)
{
	struct stack *stack = find_stack(s, frames, n);

	if (stack)
		return stack;
	stack = xcalloc(1, sizeof(*stack) + n * sizeof(*frames));
	stack->syms = s;
	stack->notes = stack_notes(frames, n);
	stack->n = n;
	memcpy(stack->frames, frames, n * sizeof(*frames));
	for (int i = 0; i < n; i++)
		module_want(module_ref(frame_module(&stack->frames[i])));
	HASH_ADD(hh, s->stacks, frames, n * sizeof(*frames), stack);
	return stack;
}

/* What a stack takes on the heap; one with Python frames, also as it is shown. */
static size_t cost_of(const struct stack_frame *frames, int n)
{
	size_t size = sizeof(struct stack) + n * sizeof(*frames);

	for (int i = 0; i < n; i++)
		if (frames[i].kind == FRAME_KIND_PYTHON)
			return 2 * size;
	return size;
}

const struct stack *stack_get(struct syms *s, int pid, const unsigned long long *addrs, int n)
{
	struct stack_frame of[STACK_FRAMES + STACK_NATIVE] = { 0 };
	struct frames frames;
	struct mappings *p;
	struct stack *stack;

	if (!s)
		return NULL;
	expand(s, addrs, n, &frames);
	if (!frames.n)
		return NULL;
	p = mappings_of(s, pid);
	for (int i = 0; i < frames.n; i++)
		of[i] = frame_of(s, p, frames.at[i]);
	stack = find_stack(s, of, frames.n);
	if (!stack && quota_take(&s->stacks_quota, p->user, pid, cost_of(of, frames.n)))
		stack = stack_of(s, of, frames.n);
	if (stack)
		stack_losses_add(&s->losses, stack->notes);
	return stack;
}

const struct stack_losses *syms_losses(const struct syms *s)
{
	return s ? &s->losses : NULL;
}

const char *syms_function(struct syms *s, int pid, unsigned long long addr)
{
	unsigned long long off = 0;
	struct stack_frame f;
	const char *name;

	if (!s)
		return NULL;
	f = native_frame(s, mappings_of(s, pid), addr);
	name = frame_module(&f) ? module_symbol(frame_module(&f), f.at, &off) : NULL;
	return off ? NULL : name;
}

static void each_variable(const struct range *r, const char *end, syms_variable_fn *fn, void *ctx)
{
	const struct elf_symbols *variables = r->module ? module_variables(r->module, end) : NULL;
	unsigned long long at, addr;
	const char *name;

	if (!variables || !elf_symbols_address(variables, r->offset, &at))
		return;
	for (size_t i = 0; (name = elf_symbols_get(variables, i, &addr)); i++)
		fn(ctx, name, addr - at + r->start);
}

void syms_variables(struct syms *s, int pid, const char *end, syms_variable_fn *fn, void *ctx)
{
	const struct mappings *p = s ? mappings_of(s, pid) : NULL;

	for (size_t i = 0; p && i < p->n; i++)
		if (!i || p->ranges[i - 1].module != p->ranges[i].module)
			each_variable(&p->ranges[i], end, fn, ctx);
}
