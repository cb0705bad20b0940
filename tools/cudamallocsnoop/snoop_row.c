/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "api/cuda_err.h"
#include "cli/row.h"
#include "cudamallocsnoop/snoop_row.h"
#include "model/memory.h"
#include "view/columns.h"
#include "view/stack_view.h"

OUT_WORD(row_type, "call");

#define AT(f) offsetof(struct snoop_row, f)
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* a call */
	{ "time", "TIME", -12, OUT_TIME, AT(time) },
	{ "pid", "PID", -7, OUT_INT, AT(pid) },
	{ "tid", NULL, 0, OUT_INT, AT(tid) },
	{ "comm", "COMM", -15, OUT_STR, AT(comm) },
	{ "container", NULL, -12, OUT_STR, AT(container) },
	{ "layer", NULL, 0, OUT_STR, AT(layer) },	/* runtime or driver; usdt: of --tensors */
	{ "func", "FUNCTION", -22, OUT_STR, AT(func) },
	{ "op", "OP", -5, OUT_STR, AT(op) },	/* alloc or free */
	{ "memory", "MEMORY", -7, OUT_STR, AT(memory) },	/* its kind: device, managed, host, ... */
	{ "device", NULL, 6, OUT_DEVICE, AT(device) },	/* of the memory; null if unknown or of the host */
	{ "stream", NULL, -14, OUT_STREAM, AT(stream) },	/* of the call */
	{ "size", "BYTES", 12, OUT_SIZE, AT(size) },	/* null if unknown */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },	/* false if size and memory may be unknown */
	{ "ptr", "POINTER", -14, OUT_PTR, AT(ptr) },	/* address or handle */
	{ "latency_ns", "LAT(us)", 9, OUT_US, AT(latency) },	/* of the call */
	{ "ret", NULL, 0, OUT_INT, AT(ret) },	/* result; 0: success */
	{ "error", NULL, 0, OUT_STR, AT(error) },	/* its name; null if none */
	{ NULL, "RESULT", -1, OUT_STR, AT(result) },
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};

_Static_assert(sizeof(all_fields) == sizeof(((struct snoop_rows *)0)->fields), "SNOOP_FIELDS");

void snoop_rows_init(struct snoop_rows *rows, bool times, bool stacks, bool devices)
{
	columns_of_calls(rows->fields, all_fields, times, stacks);
	rows->devices.several = devices;
	if (devices)
		columns_show(rows->fields, "device", "DEVICE");
}

struct snoop_row snoop_row(const struct memory_event *e, const struct memory_effect *did)
{
	const struct cuda_fn *fn = &cuda_fns[e->head.kind];

	return (struct snoop_row){
		.time = e->time, .size = did->size, .ptr = e->ptr ? e->ptr : OUT_NONE,
		/* a USDT probe says what is done, and is no call */
		.latency = fn->lib == CUDA_USDT ? OUT_NONE : e->time - e->start,
		.stream = stream_of(fn, e->stream), .pid = e->head.pid, .tid = e->tid, .ret = e->ret,
		.device = did->device, .comm = e->comm, .layer = cuda_lib_name(fn->lib), .func = fn->name,
		.op = fn->class == CUDA_ALLOC ? "alloc" : "free", .memory = memory_name(did->memory),
		.error = e->ret ? cuda_err_name(fn->lib, e->ret) : NULL,
	};
}

/* Devices, streams and containers get a column, and the head again, once there is something to tell apart. */
static void widen(struct snoop_rows *rows, const struct snoop_row *r)
{
	bool stream = r->stream != OUT_NONE && r->stream != STREAM_LEGACY, more = false;

	devices_see(&rows->devices, r->device);
	if (rows->devices.several)
		more |= columns_show(rows->fields, "device", "DEVICE");
	if (stream)
		more |= columns_show(rows->fields, "stream", "STREAM");
	if (r->container)
		more |= columns_show(rows->fields, "container", "CONTAINER");
	if (more)
		out_head(rows->fields);
}

void snoop_row_print(struct snoop_rows *rows, const struct snoop_row *row)
{
	widen(rows, row);
	out_row(rows->fields, row);
}
