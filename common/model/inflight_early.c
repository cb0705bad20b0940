/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "abi/record.h"
#include "abi/inflight_call.h"
#include "base/clock.h"
#include "base/die.h"
#include "model/inflight_early.h"
#include "model/inflight_state.h"
#include "probe/probe_source.h"
#include "probe/probes.h"
#include "proc/vm_read.h"
#include "sym/export_jump.h"
#include "sym/stack.h"
#include "sym/syms.h"

enum { STACK_BYTES = 64 << 10 };	/* of a thread's stack that are read */

/* Symbols of its own: the tool may want no stacks, or unwind by frame pointers. */
static struct syms *syms_of(struct inflight *r)
{
	const struct stack_config config = { .dwarf = true, .native = true };

	if (r->syms)
		return r->syms;
	r->syms = syms_new(r->probes->helpers, &config);
	syms_open(r->syms, NULL);
	if (r->lines)
		syms_show_lines(r->syms);
	return r->syms;
}

/* Reads the thread's stack to behind copy, which has room for STACK_BYTES; returns how many bytes. */
static size_t stack_bytes(struct inflight *r, struct stack_copy *copy)
{
	unsigned long long at = copy->regs[UNWIND_RSP];
	size_t most = STACK_BYTES - at % UNWIND_PAGE;
	size_t size = vm_read_some(r->probes->helpers, copy->head.pid, at, copy + 1, most);

	if (!size && vm_read_forbidden(r->probes->helpers, copy->head.pid))
		r->forbidden = copy->head.pid;
	copy->looked = (at % UNWIND_PAGE + size + UNWIND_PAGE - 1) / UNWIND_PAGE;
	copy->present = (1ull << copy->looked) - 1;
	copy->cut = size == most;
	return size;
}

const struct stack *inflight_stack(struct inflight *r, const struct inflight_call *c)
{
	struct stack_copy *copy;
	unsigned long long frame;
	const struct stack *stack;
	size_t size;

	if (clock_ns() > r->until)
		return NULL;
	copy = xcalloc(1, sizeof(*copy) + STACK_BYTES);
	*copy = c->stack;
	copy->id = ++r->copies & FRAME_VALUE_MASK;
	copy->head.kind = RECORD_STACK;
	size = stack_bytes(r, copy);
	if ((int)copy->head.pid != r->mapped)	/* they may have changed: nobody tells these symbols */
		syms_changed(syms_of(r), copy->head.pid);
	r->mapped = copy->head.pid;
	frame = FRAME_NOTE_OF(NOTE_COPIED, copy->id);
	syms_record(syms_of(r), copy, sizeof(*copy) + size);
	stack = size ? stack_get(r->syms, copy->head.pid, &frame, 1) : NULL;
	free(copy);
	return stack;
}

/* Returns the id of the function if the tool shows its calls, or -1. */
static int traced(const struct probes *p, const char *name)
{
	int id = p->source->find(p->source->ctx, name);
	struct function fn = { 0 };

	if (id >= 0)
		fn = p->source->get(p, id);
	return fn.wanted && !fn.aside && (p->layer == CUDA_LIB_MAX || p->layer == (int)fn.lib) ? id : -1;
}

static bool is_traced(const void *ctx, const char *name)
{
	return traced(ctx, name) >= 0;
}

/* Returns the id of the traced function that frame i is in, or -1. */
static int call_at(const struct inflight *r, int pid, const struct stack *stack, int i,
		   const struct frame_view *v)
{
	int id = v->kind == FRAME_KIND_NATIVE && v->name ? traced(r->probes, v->name) : -1;
	const char *name;

	if (id >= 0)
		return id;
	name = export_jump(stack, pid, i, is_traced, r->probes);
	return name ? traced(r->probes, name) : -1;
}

/* Finds the outermost call on the stack, and sets whether the stack is whole and was looked at to its end.
 * What is kept of the stack, once for a thread, is at most what stack_get() took from the quota. */
static void find_call(struct inflight *r, struct inflight_thread *t, const struct stack *stack,
		      bool *whole)
{
	struct frame_view v;
	int at = -1;

	t->id = -1;
	t->stack = NULL;
	*whole = stack;
	for (int i = 0; stack_view(stack, i, &v); i++) {
		int id = clock_ns() > r->until ? -1 : call_at(r, t->pid, stack, i, &v);

		*whole = v.kind != FRAME_KIND_NOTE && clock_ns() <= r->until;
		if (id < 0)
			continue;
		t->id = id;
		at = i;
	}
	if (at >= 0 && stack_view(stack, at + 1, &v))
		t->stack = stack_from(stack, at + 1);
}

static void drop(struct inflight *r, struct inflight_thread *t)
{
	HASH_DEL(r->threads, t);
	quota_give(&r->quota, t->user, 1);
	free(t);
}

static struct inflight_thread *find(struct inflight *r, const struct inflight_call *c, unsigned user)
{
	struct inflight_thread *t;
	int tid = c->tid;

	HASH_FIND_INT(r->threads, &tid, t);
	if (t || r->begun || !quota_take(&r->quota, user, c->stack.head.pid, 1))
		return t;
	t = xcalloc(1, sizeof(*t));
	t->pid = c->stack.head.pid;
	t->tid = tid;
	t->id = -1;
	t->user = user;
	HASH_ADD_INT(r->threads, tid, t);
	return t;
}

/* Return true if the stack is the one that was looked at. */
static bool is_same(const struct inflight_thread *t, const struct inflight_call *c)
{
	return t->id >= 0 && t->sp == c->stack.regs[UNWIND_RSP] && t->pc == c->stack.regs[UNWIND_RIP] &&
	       t->switches == c->switches;
}

/* Return true if the thread need not be looked at again. */
static bool look_at(struct inflight *r, struct inflight_thread *t, const struct inflight_call *c)
{
	bool whole;

	t->sp = c->stack.regs[UNWIND_RSP];
	t->pc = c->stack.regs[UNWIND_RIP];
	t->switches = c->switches;
	find_call(r, t, inflight_stack(r, c), &whole);
	return t->id < 0 && whole;
}

const struct inflight_thread *inflight_early(struct inflight *r, const struct inflight_call *c,
					    unsigned user)
{
	struct inflight_thread *t = find(r, c, user);

	if (!t)
		return NULL;
	t->round = r->round;
	if (is_same(t, c))
		return t;
	if (clock_ns() > r->until)
		return NULL;
	if (!look_at(r, t, c))
		return t;
	drop(r, t);
	return NULL;
}

void inflight_early_tidy(struct inflight *r)
{
	struct inflight_thread *t, *following;

	HASH_ITER(hh, r->threads, t, following)
		if (t->round != r->round)
			drop(r, t);
}
