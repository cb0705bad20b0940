/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The library in a program that has inject/resident.so, which has mapped it and calls this: no linker knows it. */
#include <stddef.h>
#include "agent/inject/inject.h"
#include "agent/inject/instance.h"
#include "machine/stub_frame.h"

/* The tool's function of that name, which may be the form that one major version of the runtime has: not every tool tells forms
 * apart. */
static __u32 function_named(const struct injected *a, const char *name)
{
	const __u32 function = function_find(a, name);
	char plain[64];
	unsigned n = 0;

	while (name[n] && name[n] != '@' && n < sizeof(plain) - 1) {
		plain[n] = name[n];
		n++;
	}
	plain[n] = 0;
	return function == NO_FUNCTION && name[n] == '@' ? function_find(a, plain) : function;
}

/* Of its names, the first one that the tool wants. */
static void add(const struct resident *r, __u32 number)
{
	struct injected *a = &injected;
	const struct stub *is = &r->stub[number];
	__u32 function = NO_FUNCTION;

	for (int i = 0; i < STUB_NAMES && r->named[number][i] && function == NO_FUNCTION; i++)
		function = function_named(a, r->text + r->names[r->named[number][i] - 1].name);
	if (function != NO_FUNCTION)
		stub_follow(a, number, function, is);
}

static bool attach(const struct resident *r)
{
	struct injected *a = &injected;
	bool ok;

	a->page_size = r->page_size;
	a->stack = r->stack;
	a->window = r->window;
	a->filters = r->filters;
	a->users = r->users;
	a->ancestors = r->ancestors;
	a->patience = r->patience;
	a->started = r->started;
	a->ahead = r->ahead;
	memcpy(a->socket, r->socket, sizeof(a->socket));
	a->socket[sizeof(a->socket) - 1] = 0;
	clock_find(a, r->vdso);
	inject_here.signals = r->signals;
	inject_here.blocked = true;
	ok = connect_hello(a);
	for (__u32 i = 0; ok && i < r->stubs; i++)
		add(r, i);
	inject_here.blocked = ok;
	return ok;
}

static const __u32 *flags(__u32 number)
{
	const struct injected *a = &injected;

	return a->stub[number].in ? (const __u32 *)(a->window + ((const char *)a->stub[number].flags - (const char *)a->head)) : NULL;
}

static void ready(void)
{
	changes_tell_loaded(&injected);
	inject_here.blocked = false;
}

static void consistent(void)
{
	changes_tell_loaded(&injected);
}

/* resident.so's stub has not looked whether this tool probes the function. */
static struct entered entered(struct stub_frame *f, __u32 number)
{
	const struct stub *s = &injected.stub[number];

	if (!s->in || injected.toggle[s->function].flags & INJECT_OFF)
		return (struct entered){ 0 };
	return inject_entered(f, s);
}

static void returned(struct stub_frame *f, __u32 number)
{
	inject_returned(f, &injected.stub[number]);
}

static void noted(const char *path)
{
	changes_note(&injected, path);
}

static void bound(const char *path, __u32 functions)
{
	connect_bound(&injected, path, functions);
}

static void closed(void)
{
	injected.changes = true;
}

static bool is_out(void)
{
	__u32 state = injected.page ? __atomic_load_n(&injected.page->state, __ATOMIC_RELAXED) : LEFT_OUT;

	return state == LEFT_OUT || state == WITHDRAWN;
}

static bool is_filtered(void)
{
	return __atomic_load_n(&injected.marks, __ATOMIC_RELAXED) & INJECT_FILTERED;
}

static void leave(bool in_use)
{
	memory_drop(&injected, in_use);
}

EXPORTED const struct instance inject_instance = {
	.version = INSTANCE_VERSION, .bytes = sizeof(struct instance),
	.attach = attach, .add = add, .flags = flags, .ready = ready, .entered = entered, .returned = returned,
	.noted = noted, .bound = bound, .consistent = consistent, .closed = closed, .is_out = is_out, .is_filtered = is_filtered, .leave = leave,
};
