/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "abi/agent_gpuprobe.h"
#include "abi/stack_frames.h"
#include "cudakerneltime/launch_calls.h"
#include "sym/syms.h"

/* The calls that launch one kernel in one context, in their order. */
struct call_list {
	char *key;
	size_t n;
	const struct stack **stack;
	UT_hash_handle hh;
};

static char *key_of(unsigned process, uint32_t context, const char *name, int len)
{
	return xprintf("%u %u %.*s", process, context, len, name);
}

static struct call_list *list_of(struct launch_calls *c, unsigned process, const struct gpuprobe_launch *call,
				 const char *name)
{
	char *key = key_of(process, call->context, name, call->name_size);
	struct call_list *list;
	size_t size;

	HASH_FIND_STR(c->lists, key, list);
	size = strlen(key);
	if (list || HASH_COUNT(c->lists) == LAUNCH_CALL_NAMES_MAX || size > LAUNCH_CALL_BYTES_MAX - c->bytes) {
		free(key);
		return list;
	}
	list = xcalloc(1, sizeof(*list));
	list->key = key;
	HASH_ADD_KEYPTR(hh, c->lists, key, size, list);
	c->bytes += size;
	return list;
}

static const struct stack *stack_of_call(struct launch_calls *c, int pid, const char *frames, unsigned n)
{
	unsigned long long frame[STACK_NATIVE];

	if (n > STACK_NATIVE)
		n = STACK_NATIVE;
	memcpy(frame, frames, n * sizeof(*frame));
	for (unsigned i = 0; i < n; i++)
		frame[i] &= FRAME_VALUE_MASK;
	return stack_get(c->syms, pid, frame, n);
}

static void add_call(struct launch_calls *c, unsigned process, int pid, const struct gpuprobe_launch *call,
		     const char *frames)
{
	const char *name = frames + call->frames * sizeof(uint64_t);
	struct call_list *list = c->calls < LAUNCH_CALLS_MAX ? list_of(c, process, call, name) : NULL;

	if (!list) {
		c->dropped++;
		return;
	}
	if (!(list->n & (list->n - 1)))	/* room for 1, 2, 4 … */
		list->stack = xrealloc(list->stack, list->n ? 2 * list->n : 1, sizeof(*list->stack));
	list->stack[list->n++] = stack_of_call(c, pid, frames, call->frames);
	c->calls++;
}

const char *launch_calls_frame(struct launch_calls *c, unsigned process, int pid, const void *data, size_t size)
{
	enum { NAME_MOST = 4096 };	/* as the library sends them */
	const char *p = data, *end = p + size;

	syms_refresh(c->syms, pid);
	while (p < end) {
		struct gpuprobe_launch call;	/* not aligned behind a name */
		size_t left = end - p;

		if (left < sizeof(call))
			return "protocol error: half a launch";
		memcpy(&call, p, sizeof(call));
		left -= sizeof(call);
		if (call.frames > left / sizeof(uint64_t) || call.name_size > NAME_MOST ||
		    call.name_size > left - call.frames * sizeof(uint64_t))
			return "protocol error: launch of a wrong size";
		add_call(c, process, pid, &call, p + sizeof(call));
		p += sizeof(call) + call.frames * sizeof(uint64_t) + call.name_size;
	}
	return NULL;
}

static int by_kernel(const struct kernel_run *x, const struct kernel_run *y)
{
	unsigned p = x->module->process->id, q = y->module->process->id;
	uint32_t c = x->module->context, d = y->module->context;

	return (p > q) - (p < q) ?: (c > d) - (c < d) ?: strcmp(x->site->kernel, y->site->kernel);
}

static int by_grid(const void *a, const void *b)
{
	const struct kernel_run *x = a, *y = b;

	return by_kernel(x, y) ?: (x->gpu.grid > y->gpu.grid) - (x->gpu.grid < y->gpu.grid);
}

/* Adds n runs of one kernel in one context. */
static void match(struct launch_calls *c, const struct kernel_run *run, size_t n, struct kernel_rows *rows)
{
	const char *name = run->site->kernel;
	char *key = key_of(run->module->process->id, run->module->context, name, strlen(name));
	struct call_list *list;

	HASH_FIND_STR(c->lists, key, list);
	if (!list || list->n != n) {
		c->unmatched += n;
		list = NULL;
	}
	for (size_t i = 0; i < n; i++)
		kernel_rows_add(rows, &run[i], list ? list->stack[i] : NULL);
	free(key);
}

void launch_calls_match(struct launch_calls *c, struct run_list *list, struct kernel_rows *rows)
{
	struct kernel_run *run = list->run;

	if (list->runs)
		qsort(run, list->runs, sizeof(*run), by_grid);
	for (size_t i = 0, n; i < list->runs; i += n) {
		for (n = 1; i + n < list->runs && !by_kernel(&run[i], &run[i + n]); n++)
			;
		match(c, &run[i], n, rows);
	}
}

void launch_calls_free(struct launch_calls *c)
{
	struct call_list *list, *next;

	HASH_ITER(hh, c->lists, list, next) {
		HASH_DEL(c->lists, list);
		free(list->key);
		free(list->stack);
		free(list);
	}
}
