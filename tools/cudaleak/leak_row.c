/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "abi/device.h"
#include "api/cuda_fn.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudaleak/leak_row.h"
#include "view/stack_view.h"

OUT_WORD(held_type, "held");
OUT_WORD(growth_type, "growth");

#define AT(f) offsetof(struct leak_row, f)
/* In a field of type long long that is null. */
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

enum { TYPE, PEAK = 12, GROWTH, RATE, SINCE, MORE, PTR, TID, FUNC, SAMPLE, STACK };
static const struct field fields[] = {	/* for JSON; show() prints text */
	[TYPE] = { "type", NULL, 0, &held_type, 0 },	/* memory held, or with --growth what grew */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },
	{ "container", NULL, 0, OUT_STR, AT(container) },
	{ "at", NULL, 0, OUT_STR, AT(at) },	/* interval, exit of the process, or end, of --growth */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },
	{ "memory", NULL, 0, OUT_STR, AT(memory) },	/* kind, as of cudamallocsnoop; null: nothing is held */
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },	/* of the memory; null if unknown or of the host */
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },	/* bytes: held */
	{ "count", NULL, 0, OUT_UINT, AT(count) },	/* allocations */
	{ "oldest_ns", NULL, 0, OUT_UINT, AT(oldest) },	/* ns: age of the oldest */
	[PEAK] = { "peak_bytes", NULL, 0, OUT_UINT, AT(peak) },	/* without --each: bytes: most held at a time */
	[GROWTH] = { "growth_bytes", NULL, 0, OUT_SIGNED, AT(growth) },	/* without --each: bytes: by which it grew */
	[RATE] = { "growth_per_s", NULL, 0, OUT_REAL, AT(rate) },	/* without --each: bytes/s: the same */
	[SINCE] = { "since", NULL, 0, OUT_TIME, AT(since) },	/* with --growth: of the report compared with */
	[MORE] = { "growth_count", NULL, 0, OUT_SIGNED, AT(growth_count) },	/* with --growth: allocations more */
	[PTR] = { "ptr", NULL, 0, OUT_PTR, AT(ptr) },	/* with --each: address or handle */
	[TID] = { "tid", NULL, 0, OUT_INT, AT(tid) },	/* with --each: the thread */
	[FUNC] = { "func", NULL, 0, OUT_STR, AT(func) },	/* with --each: the function */
	[SAMPLE] = { "sample", NULL, 0, OUT_UINT, AT(sample) },	/* with --sample: factor in bytes and count */
	[STACK] = { "stack", NULL, 0, OUT_STACK, AT(stack) },	/* without --totals: the caller first */
	{ 0 }
};

_Static_assert(sizeof(fields) == sizeof(((struct leak_view *)0)->fields), "LEAK_FIELDS");

static void omit(struct leak_view *view, int from, int to)
{
	for (int i = from; i <= to; i++)
		view->fields[i].key = NULL;
}

void leak_row_init(struct leak_view *view)
{
	memcpy(view->fields, fields, sizeof(fields));
	if (view->growth)
		view->fields[TYPE].type = &growth_type;
	if (view->options.each)
		omit(view, PEAK, RATE);
	else
		omit(view, PTR, FUNC);
	if (!view->growth)
		omit(view, SINCE, MORE);
	if (view->options.sample <= 1)
		omit(view, SAMPLE, SAMPLE);
	if (view->totals)
		omit(view, STACK, STACK);
}

static unsigned long long since(const struct leak_view *view)
{
	return view->marks[view->options.mark] ?: view->began;
}

double leak_interval(const struct leak_view *view)
{
	return view->options.now > since(view) ? (view->options.now - since(view)) / 1e9 : 0;
}

struct leak_row leak_row(const struct leak_view *view, const struct leak_group *g, const char *at)
{
	double interval = leak_interval(view);

	return (struct leak_row){
		.time = view->options.now, .since = since(view), .bytes = g->bytes, .count = g->count,
		.oldest = view->options.now - g->oldest, .peak = g->peak, .ptr = g->ptr,
		.sample = view->options.sample, .growth = g->growth, .growth_count = g->growth_count,
		.rate = interval > 0 ? g->growth / interval : 0, .pid = g->process->pid, .tid = g->tid,
		.device = g->device, .comm = g->process->comm,
		.container = containers_of(view->containers, g->process->pid), .at = at, .complete = !g->process->preexisting,
		.memory = memory_name(g->memory), .func = cuda_fns[g->id].name, .stack = g->stack,
	};
}

void leak_row_devices(struct leak_view *view, const struct mem_process *process)
{
	const struct mem_device *d;

	for (d = process->groups.devices; d; d = d->hh.next)
		devices_see(&view->devices, d->device);
}

const char *leak_row_device(const struct leak_view *view, unsigned int device, char text[32])
{
	char number[16];

	if (!view->devices.several || device == DEVICE_NONE)
		return "";
	snprintf(text, 32, " on device %s", device_text(device, number));
	return text;
}

void leak_row_print(const struct leak_view *view, const struct leak_row *row)
{
	out_row(view->fields, row);
	out_line_end();
}

void leak_row_nothing(const struct leak_view *view, int pid, const char *comm, const char *at, bool complete)
{
	const struct leak_row r = {
		.time = view->options.now, .since = since(view), .oldest = OUT_NONE, .peak = OUT_NONE,
		.growth = NONE, .growth_count = NONE, .ptr = OUT_NONE, .pid = pid, .tid = pid,
		.sample = view->options.sample, .comm = comm,
		.container = pid ? containers_of(view->containers, pid) : NULL, .at = at, .complete = complete,
	};

	leak_row_print(view, &r);
}
