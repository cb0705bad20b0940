/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "view/columns.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_columns.h"

static bool show_processes(struct field *fields)
{
	return columns_show(fields, "pid", "PID") | columns_show(fields, "comm", "COMM");
}

void trace_columns_processes(struct field *fields)
{
	show_processes(fields);
}

void trace_columns_layers(struct field *fields)
{
	columns_show(fields, "layer", "LAYER");
}

/* A process's first thread has its number. */
static bool is_other_thread(const struct trace_columns *c, int pid, int tid)
{
	return pid == c->pid ? tid != c->tid : tid != pid || c->tid != c->pid;
}

bool trace_columns_see(struct trace_columns *c, struct field *fields, const struct trace_call *call)
{
	const struct trace_columns now = { true, call->event->head.pid, call->event->tid };
	bool more = false;

	if (c->some && now.pid != c->pid)
		more |= show_processes(fields);
	if (c->some && is_other_thread(c, now.pid, now.tid))
		more |= columns_show(fields, "tid", "TID");
	if (*call->container)
		more |= columns_show(fields, "container", "CONTAINER");
	*c = now;
	return more;
}
