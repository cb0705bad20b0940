/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "api/cuda_fn.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudaleak/leak_view.h"
#include "pprof/profile.h"
#include "sym/stack.h"
#include "view/stack_view.h"

/* A group; the tensors of a process; or its uncertain allocations or frees. */
struct leak_row {
	unsigned long long time, since, bytes, count, oldest, peak, ptr, sample;
	unsigned long long segments, tensors, doubts;
	long long growth, growth_count;
	double rate;		/* of growth, bytes/s */
	int pid, tid;
	unsigned int device;
	const char *comm, *container, *at, *memory, *func;
	bool complete;
	const struct stack *stack;
};

/* A field of type long long with this value is null. */
static const long long NONE = LLONG_MIN;

static void signed_json(const void *at)
{
	long long n = *(const long long *)at;

	if (n == NONE)
		fputs("null", stdout);
	else
		printf("%lld", n);
}

static const struct field_type field_signed = { NULL, NULL, signed_json };
#define OUT_SIGNED (&field_signed)

OUT_WORD(held_type, "held");
OUT_WORD(growth_type, "growth");
OUT_WORD(handles_type, "handles");
OUT_WORD(segments_type, "segments");
OUT_WORD(doubts_type, "uncertain");

#define AT(f) offsetof(struct leak_row, f)
#define PROCESS_FIELDS					\
	{ "time", NULL, 0, OUT_TIME, AT(time) },		\
	{ "pid", NULL, 0, OUT_INT, AT(pid) },			\
	{ "comm", NULL, 0, OUT_STR, AT(comm) },		\
	{ "container", NULL, 0, OUT_STR, AT(container) },	\
	{ "at", NULL, 0, OUT_STR, AT(at) },	/* interval; exit: after exit or execve; end: last report of --growth */ \
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) }

enum { TYPE };
static const struct field fields[] = {	/* for JSON; group_text() prints text */
	[TYPE] = { "type", NULL, 0, &held_type, 0 },	/* memory held, or growth with --growth */
	PROCESS_FIELDS,
	{ "memory", NULL, 0, OUT_STR, AT(memory) },	/* its kind; null, with 0 bytes: the process holds nothing */
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },	/* of the memory; null if unknown or of the host */
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },	/* bytes: held; 0 if the calls gave no size */
	{ "count", NULL, 0, OUT_UINT, AT(count) },	/* allocations */
	{ "oldest_ns", NULL, 0, OUT_UINT, AT(oldest) },	/* ns: age of the oldest */
	{ "peak_bytes", NULL, 0, OUT_UINT, AT(peak) },	/* without --each: bytes: most held, of any age */
	{ "growth_bytes", NULL, 0, OUT_SIGNED, AT(growth) },	/* without --each: bytes: less than 0 if it shrank */
	{ "growth_per_s", NULL, 0, OUT_REAL, AT(rate) },	/* without --each: bytes/s: the same */
	{ "since", NULL, 0, OUT_TIME, AT(since) },	/* with --growth: of the report compared with */
	{ "growth_count", NULL, 0, OUT_SIGNED, AT(growth_count) },	/* with --growth: allocations more */
	{ "ptr", NULL, 0, OUT_PTR, AT(ptr) },	/* with --each: address or handle */
	{ "tid", NULL, 0, OUT_INT, AT(tid) },	/* with --each: the thread */
	{ "func", NULL, 0, OUT_STR, AT(func) },	/* with --each: the function */
	{ "sample", NULL, 0, OUT_UINT, AT(sample) },	/* with --sample: factor in bytes and count */
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },	/* without --totals: the caller first */
	{ 0 }
};

static const struct field handle_fields[] = {	/* for JSON */
	[TYPE] = { "type", NULL, 0, &handles_type, 0 },	/* handles, with --handles */
	PROCESS_FIELDS,
	{ "kind", NULL, 0, OUT_STR, AT(memory) },	/* stream, event, module (also libraries of kernels), graph, exec (a graph that is instantiated), context, array, texture, surface, mempool, cublas (also of cuBLASLt and cuBLASXt), cudnn, cusolver, cusparse; null, with a count of 0: the process holds none */
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },	/* current where it was made; null if unknown */
	{ "count", NULL, 0, OUT_UINT, AT(count) },	/* handles made and not destroyed */
	{ "oldest_ns", NULL, 0, OUT_UINT, AT(oldest) },	/* ns: age of the oldest */
	{ "peak_count", NULL, 0, OUT_UINT, AT(peak) },	/* without --each: the most at any time */
	{ "growth_count", NULL, 0, OUT_SIGNED, AT(growth) },	/* without --each: handles more; less than 0 if there are fewer */
	{ "growth_per_s", NULL, 0, OUT_REAL, AT(rate) },	/* without --each: per second: the same */
	{ "since", NULL, 0, OUT_TIME, AT(since) },	/* with --growth: of the report compared with */
	{ "handle", NULL, 0, OUT_PTR, AT(ptr) },	/* with --each: its value */
	{ "tid", NULL, 0, OUT_INT, AT(tid) },	/* with --each: the thread */
	{ "func", NULL, 0, OUT_STR, AT(func) },	/* with --each: the function */
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },	/* without --totals: the caller first */
	{ 0 }
};

static const struct field segment_fields[] = {	/* for JSON */
	{ "type", NULL, 0, &segments_type, 0 },	/* tensors in device memory, with --tensors */
	PROCESS_FIELDS,
	{ "segment_bytes", NULL, 0, OUT_UINT, AT(segments) },	/* bytes: of device memory that the process holds */
	{ "tensor_bytes", NULL, 0, OUT_UINT, AT(tensors) },	/* bytes: of these, held by tensors */
	{ 0 }
};

enum { DOUBTS = 7 };
static const struct field doubt_fields[] = {	/* for JSON; a row has one of the last four */
	{ "type", NULL, 0, &doubts_type, 0 },	/* uncertain allocations or frees of a process */
	PROCESS_FIELDS,
	[DOUBTS] = { "unknown_frees", NULL, 0, OUT_UINT, AT(doubts) },	/* if any: frees of unknown allocations */
	{ "unseen_frees", NULL, 0, OUT_UINT, AT(doubts) },	/* if any: addresses allocated again without a free */
	{ "ignored", NULL, 0, OUT_UINT, AT(doubts) },	/* if any: allocations dropped, as the table is full */
	{ "unsure", NULL, 0, OUT_UINT, AT(doubts) },	/* if any: allocations that a reset may have freed */
	{ 0 }
};

_Static_assert(sizeof(fields) == sizeof(((struct leak_view *)0)->fields) && sizeof(handle_fields) <= sizeof(fields), "LEAK_FIELDS");

/* at: offset of the value. */
static void omit(struct leak_view *view, size_t at)
{
	for (struct field *f = view->fields + 1; f->type; f++)
		if (f->at == at)
			f->key = NULL;
}

void leak_view_init(struct leak_view *view)
{
	static const size_t sums[] = { AT(peak), AT(growth), AT(rate) }, each[] = { AT(ptr), AT(tid), AT(func) };

	if (view->handles)
		memcpy(view->fields, handle_fields, sizeof(handle_fields));
	else
		memcpy(view->fields, fields, sizeof(fields));
	if (view->growth && !view->handles)
		view->fields[TYPE].type = &growth_type;
	for (int i = 0; i < 3; i++)
		omit(view, view->options.each ? sums[i] : each[i]);
	if (!view->growth) {
		omit(view, AT(since));
		omit(view, AT(growth_count));
	}
	if (view->options.sample <= 1)
		omit(view, AT(sample));
	if (view->totals)
		omit(view, AT(stack));
}

void leak_view_devices(struct leak_view *view, const struct mem_process *process)
{
	const struct mem_device *d;

	for (d = process->groups.devices; d; d = d->hh.next)
		devices_see(&view->devices, d->device);
}

void leak_view_mark(struct leak_view *view, struct memory *memory, enum mem_snapshot mark)
{
	memory_mark(memory, mark);
	view->marks[mark] = view->options.now;
}

static unsigned long long since(const struct leak_view *view)
{
	return view->marks[view->options.mark] ?: view->began;
}

double leak_interval(const struct leak_view *view)
{
	return view->options.now > since(view) ? (view->options.now - since(view)) / 1e9 : 0;
}

static struct leak_row process_row(const struct leak_view *view, const struct mem_process *process,
				   const char *at)
{
	return (struct leak_row){
		.time = view->options.now, .pid = process->pid, .comm = process->comm,
		.container = process_container(view->processes, process->pid), .at = at,
		.complete = !process->preexisting,
	};
}

static struct leak_row group_row(const struct leak_view *view, const struct leak_group *g, const char *at)
{
	const double interval = leak_interval(view);
	struct leak_row row = process_row(view, g->process, at);

	row.since = since(view);
	row.bytes = g->bytes;
	row.count = g->count;
	row.oldest = view->options.now - g->oldest;
	row.peak = g->peak;
	row.growth = g->growth;
	row.growth_count = g->growth_count;
	row.rate = interval > 0 ? g->growth / interval : 0;
	row.ptr = g->ptr;
	row.tid = g->tid;
	row.func = cuda_fns[g->id].name;
	row.sample = view->options.sample;
	row.device = g->device;
	row.memory = memory_name(g->memory);
	row.stack = g->stack;
	return row;
}

void leak_view_nothing(const struct leak_view *view, int pid, const char *comm, const char *at, bool complete)
{
	const struct leak_row r = {
		.time = view->options.now, .since = since(view), .oldest = OUT_NONE, .peak = OUT_NONE,
		.growth = NONE, .growth_count = NONE, .ptr = OUT_NONE, .pid = pid, .tid = pid,
		.sample = view->options.sample, .comm = comm,
		.container = pid ? process_container(view->processes, pid) : NULL, .at = at, .complete = complete,
	};

	out_row(view->fields, &r);
	out_line_end();
}

/* Returns " on device 3", or "" if there is only one; in text or not. */
static const char *on_device(const struct leak_view *view, unsigned int device, char text[32])
{
	char number[16];

	if (!view->devices.several || device == DEVICE_NONE)
		return "";
	snprintf(text, 32, " on device %s", device_text(device, number));
	return text;
}

const char *leak_amount(const struct leak_view *view, unsigned long long bytes, char text[32])
{
	if (!view->handles)
		return out_bytes(bytes);
	snprintf(text, 32, "%llu", bytes);
	return text;
}

const char *leak_change(const struct leak_view *view, double bytes, char text[32])
{
	if (!view->handles)
		return out_change(bytes);
	snprintf(text, 32, bytes ? "%+.1f" : "0", bytes);
	return text;
}

static void handle_text(const struct leak_view *view, const struct leak_row *r, const char *on)
{
	const char *of = memory_name_more(r->memory);
	char rate[32];

	if (view->growth)
		printf("    %+lld %s%s%s%s, %s/s: now %llu", r->growth, r->memory, of, plural(r->growth), on,
		       leak_change(view, r->rate, rate), r->count);
	else if (view->options.each)
		printf("    %s%s 0x%llx%s, %s old, by %s in thread %d", r->memory, of, r->ptr, on, out_ns(r->oldest), r->func, r->tid);
	else
		printf("    %llu %s%s%s%s, oldest %s", r->count, r->memory, of, plural(r->count), on, out_ns(r->oldest));
	putchar('\n');
}

static void group_text(const struct leak_view *view, const struct leak_row *r)
{
	char device[32];
	const char *on = on_device(view, r->device, device);

	if (view->handles)
		handle_text(view, r, on);
	else if (view->growth)
		printf("    %s and %+lld allocation%s of %s memory%s, %s/s: now %s in %llu allocation%s\n",
		       out_change(r->growth), r->growth_count, plural(r->growth_count), r->memory, on,
		       out_change(r->rate), out_bytes(r->bytes), r->count, plural(r->count));
	else if (view->options.each)
		printf("    %s of %s memory%s at 0x%llx, %s old, by %s in thread %d\n", out_bytes(r->bytes),
		       r->memory, on, r->ptr, out_ns(r->oldest), r->func, r->tid);
	else
		printf("    %s in %llu allocation%s of %s memory%s, oldest %s\n", out_bytes(r->bytes), r->count,
		       plural(r->count), r->memory, on, out_ns(r->oldest));
	if (!view->totals)
		stack_text(r->stack);
}

/* Returns "[device]" for device memory. */
static const char *leaf_of(const struct leak_group *g, char leaf[32])
{
	snprintf(leaf, 32, "[%s]", memory_name(g->memory));
	return leaf;
}

static void group(const struct leak_view *view, const struct leak_group *g, const char *at)
{
	const struct leak_row r = group_row(view, g, at);
	char leaf[32];

	if (view->folded) {
		folded_line(r.comm, r.stack, leaf_of(g, leaf), r.bytes);
	} else if (out_is_json()) {
		out_row(view->fields, &r);
	} else {
		group_text(view, &r);
	}
	out_line_end();
}

void leak_view_head(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	const char *container = process_container(view->processes, process->pid);

	printf("[%s] pid %d (", out_clock(), process->pid);
	escape_text(stdout, process->comm);
	printf(container ? ") in container %s" : ")", container);
	printf("%s: ", !strcmp(at, "exit") ? " at exit" : "");
}

static void head_end(const struct leak_view *view, const struct mem_process *process)
{
	if (process->preexisting)
		preexisting_text(view->processes, view->handles ? "handles" : "allocations");
	putchar('\n');
}

static void held_head(const struct leak_view *view, const struct mem_process *process, const char *at,
		      unsigned long long count, unsigned long long bytes)
{
	leak_view_head(view, process, at);
	if (view->handles)
		printf("%llu handle%s not destroyed", count, plural(count));
	else
		printf("%llu allocation%s not freed, %s", count, plural(count), out_bytes(bytes));
	if (view->options.sample > 1)
		printf(" (estimated from a sample of 1 in %ld)", view->options.sample);
	head_end(view, process);
}

static unsigned long long on_devices(const struct leak_view *view, const struct mem_process *process)
{
	static const unsigned char kinds[] = { CUDA_DEVICE, CUDA_POOL, CUDA_VMM, CUDA_MANAGED };
	unsigned long long bytes = 0;

	for (size_t i = 0; i < sizeof(kinds); i++)
		bytes += process->groups.kinds[kinds[i]].bytes;
	return bytes * view->options.sample;
}

/* Prints how much of the memory that the process holds on devices is held for tensors. */
static void segments(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	struct leak_row r = process_row(view, process, at);

	r.segments = on_devices(view, process);
	r.tensors = process->groups.kinds[CUDA_TENSOR].bytes * view->options.sample;
	if (out_is_json()) {
		out_row(segment_fields, &r);
		return;
	}
	printf("    tensors have %s of %s of device memory", out_bytes(r.tensors), out_bytes(r.segments));
	/* unrecorded memory of either kind would make the rest meaningless */
	if (process->preexisting || view->filtered || view->options.sample > 1)
		fputs(", as far as both were seen", stdout);
	else if (r.segments && r.tensors <= r.segments)
		printf(": %.1f %% is free or in fragments", 100 - 100.0 * r.tensors / r.segments);
	putchar('\n');
}

static void held(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	unsigned long long bytes = 0, count = 0;
	struct leak_group *g;
	size_t n, i;

	g = leak_groups(process, &view->options, &n);
	for (i = 0; i < n; i++) {
		bytes += g[i].bytes;
		count += g[i].count;
	}
	if (!out_is_json() && !view->folded)
		held_head(view, process, at, count, bytes);
	if (view->options.tensors && !view->folded)
		segments(view, process, at);
	if (!n && out_is_json())
		leak_view_nothing(view, process->pid, process->comm, at, !process->preexisting);
	for (i = 0; i < n && (view->folded || i < (size_t)view->top); i++)
		group(view, &g[i], at);
	if (i < n && !out_is_json())
		printf("    ... and %zu more%s%s\n", n - i, view->options.each ? "" : " group",
		       view->options.each ? "" : plural(n - i));
	free(g);
}

static unsigned long long magnitude(long long n)
{
	return n < 0 ? 0 - (unsigned long long)n : (unsigned long long)n;
}

static void growth_head(const struct leak_view *view, const struct mem_process *process, const char *at,
			bool first)
{
	const struct mem_sum *sum = leak_sum(process, &view->options);
	long long growth = (sum->bytes - sum->marks[view->options.mark].bytes) * view->options.sample;
	char text[32];

	leak_view_head(view, process, at);
	printf("%s%s held, ", leak_amount(view, sum->bytes * view->options.sample, text), view->handles ? sum->bytes == 1 ? " handle" : " handles" : "");
	if (!first && growth)
		printf("%s %s than", leak_amount(view, magnitude(growth), text), growth > 0 ? "more" : view->handles ? "fewer" : "less");
	else if (!first)
		printf("as %s as", view->handles ? "many" : "much");
	if (!first)
		printf(" %s before, ", out_ns(leak_interval(view) * 1e9));
	printf("peak %s", leak_amount(view, sum->peak * view->options.sample, text));
	head_end(view, process);
}

/* Allocations without a size grow in number. */
static bool grew(const struct leak_group *g)
{
	return g->growth > 0 || (!g->bytes && g->growth_count > 0);
}

/* Prints how a process grew since the report of options.mark; the first report has no groups. */
static void growth(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	const bool first = !strcmp(at, "interval") && !view->marks[view->options.mark];
	size_t n = 0, all = 0, top = view->top;
	struct leak_group *g;

	if (!out_is_json())
		growth_head(view, process, at, first);
	if (first)
		return;
	g = leak_groups(process, &view->options, &n);
	for (size_t i = 0; i < n; i++)
		if (grew(&g[i]) && all++ < top)
			group(view, &g[i], at);
	if (all > top && !out_is_json())
		printf("    ... and %zu more group%s\n", all - top, plural(all - top));
	free(g);
}

struct doubt {
	unsigned long long n;
	const char *noun, *how, *since;
};

enum { DOUBT_KINDS = 4 };

static void doubt_json(struct leak_row row, unsigned long long n, int which)
{
	struct field one[DOUBTS + 2];

	memcpy(one, doubt_fields, sizeof(one));
	one[DOUBTS] = doubt_fields[DOUBTS + which];
	one[DOUBTS + 1] = (struct field){ 0 };
	row.doubts = n;
	out_row(one, &row);
}

static void doubts(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	const char *when = process->preexisting ? view->processes->since : "";
	const unsigned long long frees = view->filtered ? 0 : process->unknown;
	const struct doubt memory[DOUBT_KINDS] = {	/* in the order of the keys */
		{ frees, "free", process->preexisting ? "of memory allocated before " :
		  "of memory whose allocation was not seen", when },
		{ process->replaced, "allocation",
		  "whose address was allocated again without a free: counted as freed", "" },
		{ process->ignored, "allocation", "not counted: too many are live", "" },
		{ process->unsure, "allocation",
		  "of these may have been freed with a context or by a device reset", "" },
	}, handles[DOUBT_KINDS] = {
		{ frees, "call", process->preexisting ? "that destroyed handles made before " :
		  "that destroyed handles whose making was not seen", when },
		{ process->replaced, "handle", "that was made again without being destroyed: counted as destroyed", "" },
		{ process->ignored, "handle", "not counted: too many are live", "" },
		{ process->unsure, "handle", "of these may have been destroyed with a context or by a device reset", "" },
	}, *const all = view->handles ? handles : memory;

	for (const struct doubt *d = all; d < all + DOUBT_KINDS; d++)
		if (d->n && out_is_json())
			doubt_json(process_row(view, process, at), d->n, d - all);
		else if (d->n)
			printf("    %llu %s%s %s%s\n", d->n, d->noun, plural(d->n), d->how, d->since);
}

void leak_view_process(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	if (view->growth)
		growth(view, process, at);
	else
		held(view, process, at);
	if (!view->folded)
		doubts(view, process, at);
}

void leak_view_profile(const struct leak_view *view, const struct mem_process *process, struct profile *profile)
{
	struct leak_group *g;
	size_t n = 0;
	char leaf[32];

	if (!profile->path)
		return;
	g = leak_groups(process, &view->options, &n);
	for (size_t i = 0; i < n; i++)
		profile_add(profile, &(struct profile_event){
			process->pid, process->comm, leaf_of(&g[i], leaf), g[i].stack, g[i].device,
			{ g[i].bytes, g[i].count } });
	free(g);
}
