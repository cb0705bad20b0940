/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <string.h>
#include "probe/scan.h"
#include "cudatrace/trace_first.h"
#include "kernels/executions.h"
#include "cudatrace/trace_execution.h"

/* Its id is the pid: an ended one is never looked up. */
struct traced_execution {
	struct execution program;
	int version;		/* of its runtime, as in CUDA_VERSION; 0: not determined yet */
	unsigned registered;	/* kernels that it registered */
};

/* Names of further registered kernels, which can be tens of thousands, are read only at a launch. */
enum { REGISTRATIONS = 4096 };

struct executions *trace_executions_new(struct syms *syms)
{
	return executions_new(syms, sizeof(struct traced_execution));
}

static struct traced_execution *program_of(struct executions *ps, int pid)
{
	return (struct traced_execution *)executions_get(ps, pid, pid);
}

void trace_execution_forget(struct executions *ps, int pid)
{
	struct execution *p = executions_find(ps, pid);

	if (p)
		execution_end(p);
}

void trace_execution_fork(struct executions *ps, int parent, int child)
{
	struct traced_execution *from, *to;

	trace_execution_forget(ps, child);
	from = (struct traced_execution *)executions_find(ps, parent);
	if (!from)
		return;
	to = (struct traced_execution *)executions_fork(ps, parent, child, child);
	to->version = from->version;
}

/* No function of the runtime has changed within a major version.  One without a version counts as the newest. */
static int last_of(int major)
{
	return major ? major * 1000 + 999 : INT_MAX;
}

static int version_of(struct traced_execution *p, struct probes *probes)
{
	if (!p->version)
		p->version = last_of(scan_runtime(probes, p->program.pid));
	return p->version;
}

void trace_execution_mapped(struct executions *ps, struct probes *probes, int pid)
{
	int major = scan_runtime(probes, pid);

	if (major)
		program_of(ps, pid)->version = last_of(major);
}

void trace_execution_scan(void *programs, int pid)
{
	execution_scan(executions_get(programs, pid, pid));
}

/* The memory or string read at the address in an argument, or NULL. */
static const char *read_at(const struct trace_call *call, unsigned char place)
{
	for (int i = 0; place && i < call->function->nreads; i++)
		if (call->function->reads[i].word == place - 1)
			return call->read[i];
	return NULL;
}

/* A name that was not paged in, or did not fit the record, is read from the process. */
static void record_name(struct execution *p, unsigned long long addr, const char *name,
			unsigned long long at)
{
	bool cut = !name || strlen(name) + 1 >= TRACE_LONG_STRING;
	const struct kernel *kernel;

	if ((cut && execution_kernel_named(p, NULL, at, &kernel)) ||
	    execution_kernel_named(p, name, 0, &kernel))
		kernel_map_name(p->kernels, addr, kernel);
}

/* The module, library or registered binary of the kernel that the call names, or 0. */
static unsigned long long owner_of(const struct trace_call *call, const struct cuda_args *row)
{
	bool makes_module = row->out && row->module == 1;

	return trace_word(call, row->module && !makes_module ? row->module : row->library);
}

/* The handle that the call gives a name or another handle. */
static unsigned long long subject_of(const struct trace_call *call, const struct cuda_args *row)
{
	return trace_word(call, row->stub ? row->stub : row->func > 1 ? row->func : row->handle > 1 ?
			  row->handle : row->module == 1 ? row->library : 0);
}

static void record_kernel(struct traced_execution *t, struct trace_firsts *firsts, const struct trace_call *call,
			  const struct cuda_args *row)
{
	struct execution *p = &t->program;
	unsigned long long out = 0, subject = subject_of(call, row), owner = owner_of(call, row);
	const char *name = read_at(call, row->name);

	if (call->failed || (row->out && row->library == 1))
		return;
	if (!row->out && !row->name) {
		struct trace_first_unload unload = { firsts, p->pid };

		kernel_map_unload(p->kernels, owner, call->event->start, trace_first_unloaded, &unload);
		return;
	}
	if (row->out && row->name != 1) {
		if (!trace_target(call, 1, 0, &out, sizeof(out)))
			return;
		if (!row->name)
			kernel_map_alias(p->kernels, out, subject);
		subject = out;
	}
	if (!row->out && t->registered++ >= REGISTRATIONS)
		kernel_map_name_at(p->kernels, subject, trace_word(call, row->name));
	else if (row->name)
		record_name(p, subject, name, row->name == 1 ? 0 : trace_word(call, row->name));
	if (owner)
		kernel_map_own(p->kernels, subject, owner, call->event->time);
}

void trace_execution_call(struct executions *ps, struct probes *probes, struct trace_firsts *firsts, struct trace_call *call)
{
	const struct cuda_fn *role = trace_role(call->proto);
	bool names = role && role->class == CUDA_NAME, launches = role && role->class == CUDA_LAUNCH;
	struct traced_execution *p;

	if (call->proto->lib != CUDA_RT && !names && !launches)
		return;
	p = program_of(ps, call->event->head.pid);
	if (call->proto->lib == CUDA_RT)
		call->proto = cuda_proto_in(call->event->id, version_of(p, probes));
	if (names && call->event->head.kind == TRACE_CALL)
		record_kernel(p, firsts, call, &role->args);
	if (!launches || !trace_word(call, role->args.func))
		return;
	call->kernel = execution_kernel(&p->program, trace_word(call, role->args.func));
	call->first = call->event->head.kind == TRACE_CALL && !call->failed &&
		      trace_first_launch(firsts, p->program.pid, trace_word(call, role->args.func));
}
