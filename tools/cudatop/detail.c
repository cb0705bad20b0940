/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "abi/launch.h"
#include "api/cuda_err.h"
#include "api/cuda_fn.h"
#include "base/die.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/top_screen.h"
#include "cudatop/detail.h"
#include "cudatop/gpu_use.h"
#include "cudatop/hints.h"
#include "cudatop/rows.h"
#include "probe/probe_source.h"
#include "sym/stack.h"
#include "view/columns.h"

void detail_free(struct detail_view *d)
{
	for (size_t i = 0; i < d->n; i++)
		free(d->lines[i]);
	free(d->lines);
	top_kernels_free(&d->kernels);
	*d = (struct detail_view){ 0 };
}

/* The text is safe for a terminal: names in it are escaped before. */
__attribute__((format(printf, 2, 3))) static void line(struct detail_view *d, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		die(0, "out of memory");
	va_end(args);
	ALLOC_GROW(d->lines, d->n, d->room);
	d->lines[d->n++] = text;
}

static char *escaped(const char *name)
{
	size_t size;
	char *text;
	FILE *f = top_view_line(&text, &size);

	escape_text(f, name);
	fclose(f);
	return text;
}

static void set_memory(struct detail_view *d, const struct top_rows *rows, int pid)
{
	const struct mem_process *m;

	HASH_FIND_INT(rows->memory.processes, &pid, m);
	line(d, "Memory");
	for (const struct mem_site *s = m ? m->groups.all : NULL; s; s = s->hh.next) {
		const bool host = s->key.device == DEVICE_NONE;
		char device[16];

		line(d, "  %-10s %6s %-3s %12s in %llu allocations, at most %s", memory_name(s->key.memory), host ? "" : "device",
		     host ? "" : device_text(s->key.device, device), out_bytes(s->held.bytes), s->held.count, out_bytes(s->held.peak));
	}
	if (!m || !m->groups.all)
		line(d, "  none seen");
}

/* Beside what was allocated. */
static void set_used_memory(struct detail_view *d, const struct top_processes *processes, int pid)
{
	const struct top_process *p = top_process_find(processes, pid);
	const struct gpu_use *u = p ? p->use : NULL;
	char device[16];

	for (unsigned i = 0; u && i < NVML_DEVICES; i++)
		if (u->gpus & 1ull << i)
			line(d, "  used       device %-3s %12s that NVML reports on GPU %u", device_text(u->number[i], device), out_bytes(u->used[i]), i);
}

/* Made since tracing began, and not destroyed. */
static void set_handles(struct detail_view *d, const struct top_processes *processes, int pid)
{
	const struct top_process *p = top_process_find(processes, pid);
	size_t size;
	char *text;
	FILE *f = top_view_line(&text, &size);

	for (int i = 0; p && i < HANDLE_KINDS; i++)
		if (handles_left(&p->now.handles, i))
			fprintf(f, "  %s %llu", memory_name(CUDA_CODE + i), handles_left(&p->now.handles, i));
	fclose(f);
	if (*text)
		line(d, "  handles   %s", text);
	free(text);
}

/* Kernels that are listed. */
enum { KERNELS = 20 };

static void set_kernel(struct detail_view *d, const struct top_kernel *k, bool timed)
{
	const unsigned long long launches = k->launches ?: OUT_NONE;	/* of graphs: their kernels have them */
	char *name = escaped(top_kernel_name(k));

	if (timed)
		line(d, "  %21s %9llu %10s %10s  %s", out_amount(launches, OUT_UNIT_NONE), k->runs, k->runs ? out_ns(k->ns) : "-",
		     k->runs ? out_ns(k->ns / k->runs) : "-", name);
	else
		line(d, "  %21s  %s", out_amount(launches, OUT_UNIT_NONE), name);
	free(name);
}

static void set_kernels(struct detail_view *d)
{
	const struct top_kernels *k = &d->kernels;
	const bool timed = k->measured;

	if (!k->n)
		return;
	line(d, timed ? "Kernels        LAUNCHES      RUNS   GPU TIME       MEAN  NAME" : "Kernels        LAUNCHES  NAME");
	for (size_t i = 0; i < k->n && i < KERNELS; i++)
		set_kernel(d, &k->list[i], timed);
	if (k->n > KERNELS)
		line(d, "  ... and %zu more", k->n - KERNELS);
}

static void set_gpu_copies(struct detail_view *d, const char *what, const char *direction, const struct top_gpu_copies *c)
{
	if (c->n)
		line(d, "  %-10s %-20s %12llu of %s in %s, %s", what, direction, c->n, out_bytes(c->bytes), out_ns(c->ns),
		     out_amount(c->ns ? c->bytes * 1e9 / c->ns : 0, OUT_UNIT_BYTES_PER_S));
}

static void detail_set_gpu(struct detail_view *d)
{
	const struct top_kernels *k = &d->kernels;

	if (!k->measured)
		return;
	line(d, "On the GPU");
	for (int i = 0; i <= CUDA_DEFAULT; i++)
		set_gpu_copies(d, "copies", cuda_direction_name(i), &k->copies[i]);
	set_gpu_copies(d, "memsets", "", &k->sets);
}

/* Calls, of which only some are shown, by time. */
static int by_key(const void *a, const void *b)
{
	const struct top_part *x = a, *y = b;
	const struct export_key *p = &x->key, *q = &y->key;

	return (p->what > q->what) - (p->what < q->what) ?: (p->detail > q->detail) - (p->detail < q->detail) ?:
	       (p->device > q->device) - (p->device < q->device) ?: (x->ns < y->ns) - (x->ns > y->ns);
}

static int by_call(const void *a, const void *b)
{
	const struct top_error *p = a, *q = b;

	return (p->id > q->id) - (p->id < q->id) ?: (p->ret > q->ret) - (p->ret < q->ret);
}

/* Functions with most time in calls. */
enum { FUNCTIONS = 3 };

static void set_parts(struct detail_view *d, struct top_detail *of)
{
	static const char *const kinds[] = { "kernels", "cooperative", "graphs" };
	int functions = 0;

	line(d, "Since tracing began");
	qsort(of->parts, of->nparts, sizeof(*of->parts), by_key);
	qsort(of->errors, of->nerrors, sizeof(*of->errors), by_call);
	for (unsigned i = 0; i < of->nparts; i++) {
		const struct top_part *p = &of->parts[i];
		enum cuda_lib lib;
		char device[16];

		if (p->key.what == EXPORT_LAUNCH)
			line(d, "  launches   %-22s device %-3s %12llu", kinds[p->key.detail % LAUNCH_KIND_MAX], device_text(p->key.device, device), p->count);
		else if (p->key.what == EXPORT_COPY)
			line(d, "  copies     %-5s %-27s %12llu of %s%s%s", cuda_direction_name(p->key.detail & (EXPORT_ASYNC - 1)),
			     p->key.detail & EXPORT_ASYNC ? "asynchronous" : "", p->count, out_bytes(p->bytes),
			     p->ns ? " in " : "", p->ns ? out_ns(p->ns) : "");
		else if (p->key.what == EXPORT_CALL && ++functions <= FUNCTIONS)
			line(d, "  calls      %-33s %12llu in %s", cuda_error_function(p->key.id - 1, &lib) ?: "", p->count, out_ns(p->ns));
		else if (p->key.what == EXPORT_CALL)
			continue;
		else if (p->key.what == EXPORT_LOAD)
			line(d, "  code loads %33s %12llu in %s", "", p->count, out_ns(p->ns));
		else
			line(d, "  waits      %33s %12llu in %s", "", p->count, out_ns(p->ns));
	}
	for (unsigned i = 0; i < of->nerrors; i++) {
		const struct top_error *e = &of->errors[i];
		enum cuda_lib lib;
		const char *name = cuda_error_function(e->id, &lib);
		char number[CUDA_ERR_NUMBER];

		if (name)
			line(d, "  errors     %-33s %12llu %s", name, e->n, cuda_err_text(lib, e->ret, number));
	}
}

struct ranks {
	struct detail_view *d;
	int pid;
	bool any;
};

static void set_communicator(void *ctx, const struct communicator *m)
{
	struct ranks *r = ctx;
	const unsigned long long behind = communicator_behind(m);

	if (m->pid != r->pid || m->ended)
		return;
	if (!r->any)
		line(r->d, "NCCL");
	r->any = true;
	line(r->d, "  communicator 0x%016llx  rank %d of %d  %llu operations%s%s", m->hash, m->rank, m->nranks, m->total.operations,
	     behind == NO_VALUE || !behind ? "" : ", collectives behind: ", behind == NO_VALUE || !behind ? "" : out_amount(behind, OUT_UNIT_NONE));
}

enum { FRAMES = 24 };

/* The innermost frames. */
static void set_stack(struct detail_view *d, const struct stack *stack)
{
	size_t size;
	char *text, *rest, *each;
	FILE *f = top_view_line(&text, &size);
	int n = 0;

	stack_lines(f, stack, "            ");
	fclose(f);
	for (rest = text; (each = strsep(&rest, "\n")) && *each && n < FRAMES; n++)
		line(d, "%s", each);
	if (each && *each)
		line(d, "            ...");
	free(text);
}

static void detail_set_calls(struct detail_view *d, const struct top_rows *rows, int pid)
{
	bool any = false;

	line(d, "Calls in flight");
	for (size_t i = 0; i < rows->inflight.n; i++) {
		const struct inflight_row *c = &rows->inflight.rows[i];
		char *name;

		if (c->pid != pid)
			continue;
		name = escaped(c->name);
		line(d, "  %-7d %-15s %s for %s%s", c->tid, name, c->func, c->complete ? "" : "at least ", out_ns(c->age));
		free(name);
		if (c->stack)
			set_stack(d, c->stack);
		any = true;
	}
	if (!any)
		line(d, "  none");
}

/* Columns of commands. */
enum { COMMAND = 33, PYTHON_COMMAND = 45 };

static void put_command(struct detail_view *d, const char *word, const char *whole, const char *shows)
{
	line(d, "  %s%-*s %s", word, d->python ? PYTHON_COMMAND : COMMAND, whole, shows);
}

/* stacks: the command prints call stacks. */
static void set_command(struct detail_view *d, const char *command, bool stacks, int pid, const char *shows)
{
	char *whole = xprintf("%s%s -p %d", command, d->python && stacks ? " --stack python" : "", pid);

	put_command(d, "", whole, shows);
	free(whole);
}

static void set_hint(struct detail_view *d, const struct top_row *r, const struct top_hint *h)
{
	char evidence[HINT_EVIDENCE], command[HINT_COMMAND];

	h->evidence(r, evidence);
	line(d, "  %-10s %s", h->word, evidence);
	for (int i = 0; i < HINT_COMMANDS && h->commands[i].command; i++) {
		top_hint_command(h, i, r->pid, d->python, command);
		put_command(d, "    ", command, h->commands[i].shows);
	}
}

static void set_hints(struct detail_view *d, const struct top_row *r)
{
	const struct top_hint *hints[TOP_HINTS];
	const size_t n = top_hints(r, hints);

	for (size_t i = 0; i < n; i++)
		set_hint(d, r, hints[i]);
}

static bool has_graphs(const struct top_detail *of)
{
	for (unsigned i = 0; i < of->nparts; i++)
		if (of->parts[i].key.what == EXPORT_LAUNCH && of->parts[i].key.detail == LAUNCH_GRAPH)
			return true;
	return false;
}

static void set_commands(struct detail_view *d, const struct top_row *r, bool graphs)
{
	static const struct { const char *command; bool stacks; const char *shows; } commands[] = {
		{ "cudaleak", true, "which lines of code hold the memory" },
		{ "cudalaunchtop -k", true, "kernels by name, and where they are launched" },
		{ "cudasynclatency -k", true, "where threads wait for the GPU, and how long" },
		{ "cudamemcpysize -k", true, "copies by size, and where they are made" },
		{ "cudatrace -e jit -k", true, "code that is loaded or compiled, how long that takes, and where" },
		{ "cudatrace -x -k", true, "calls that fail, and where; at the end, what calls in flight wait for" },
		{ "nccltop", false, "operations of NCCL by rank; ncclhang says which rank is late" },
	};
	const size_t n = sizeof(commands) / sizeof(*commands) - (r->nranks == OUT_NONE);

	line(d, "More");
	for (size_t i = 0; i < n; i++)
		set_command(d, commands[i].command, commands[i].stacks, r->pid, commands[i].shows);
	if (graphs)
		set_command(d, "cudalaunchtop --graphs", true, r->pid, "what each CUDA graph runs, and how often");
}

void detail_set(struct detail_view *d, struct top_rows *rows)
{
	const int pid = rows->processes.detail.pid;
	const struct top_row *r = top_row_find(rows, pid);
	struct ranks ranks = { .d = d, .pid = pid };

	detail_free(d);
	if (!r) {
		line(d, "pid %d has ended", pid);
		return;
	}
	d->python = top_runs_python(pid);
	top_kernels_read(&d->kernels, rows->launches, rows->gpu, pid);
	set_hints(d, r);
	detail_set_calls(d, rows, pid);
	set_memory(d, rows, pid);
	set_used_memory(d, &rows->processes, pid);
	set_kernels(d);
	set_parts(d, &rows->processes.detail);
	set_handles(d, &rows->processes, pid);
	detail_set_gpu(d);
	communicators_each(&rows->communicators, set_communicator, &ranks);
	set_commands(d, r, has_graphs(&rows->processes.detail));
}
