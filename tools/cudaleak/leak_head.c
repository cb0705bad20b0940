/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudaleak/leak_head.h"

void leak_head(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	const char *container = containers_of(view->containers, process->pid);

	printf("[%s] pid %d (", out_clock(), process->pid);
	escape_text(stdout, process->comm);
	printf(container ? ") in container %s" : ")", container);
	printf("%s: ", *at == 'e' && at[1] == 'x' ? " at exit" : "");
}

static unsigned long long on_devices(const struct mem_process *process, const struct leak_view *view)
{
	static const unsigned char kinds[] = { CUDA_DEVICE, CUDA_POOL, CUDA_VMM, CUDA_MANAGED };
	unsigned long long bytes = 0;

	for (size_t i = 0; i < sizeof(kinds); i++)
		bytes += process->groups.kinds[kinds[i]].bytes;
	return bytes * view->options.sample;
}

struct head_row {
	unsigned long long time, segments, tensors, doubts;
	int pid;
	const char *comm, *container, *at;
	bool complete;
};

OUT_WORD(segments_type, "segments");
OUT_WORD(doubts_type, "uncertain");

#define AT(f) offsetof(struct head_row, f)
#define PROCESS_FIELDS					\
	{ "time", NULL, 0, OUT_TIME, AT(time) },		\
	{ "pid", NULL, 0, OUT_INT, AT(pid) },			\
	{ "comm", NULL, 0, OUT_STR, AT(comm) },		\
	{ "container", NULL, 0, OUT_STR, AT(container) },	\
	{ "at", NULL, 0, OUT_STR, AT(at) },	/* as of memory held */	\
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) }

static const struct field segment_fields[] = {	/* for JSON */
	{ "type", NULL, 0, &segments_type, 0 },	/* tensors in device memory, with --tensors */
	PROCESS_FIELDS,
	{ "segment_bytes", NULL, 0, OUT_UINT, AT(segments) },	/* bytes: of device memory held */
	{ "tensor_bytes", NULL, 0, OUT_UINT, AT(tensors) },	/* bytes: of them, held for tensors */
	{ 0 }
};

enum { DOUBTS = 7 };
static const struct field doubt_fields[] = {	/* for JSON; a row has one of the last four */
	{ "type", NULL, 0, &doubts_type, 0 },	/* what is uncertain about a process */
	PROCESS_FIELDS,
	[DOUBTS] = { "unknown_frees", NULL, 0, OUT_UINT, AT(doubts) },	/* if any: frees without an allocation */
	{ "unseen_frees", NULL, 0, OUT_UINT, AT(doubts) },	/* if any: allocations replaced by others */
	{ "ignored", NULL, 0, OUT_UINT, AT(doubts) },	/* if any: allocations not counted, as too many are live */
	{ "unsure", NULL, 0, OUT_UINT, AT(doubts) },	/* if any: allocations that may be freed */
	{ 0 }
};

static struct head_row head_row(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	return (struct head_row){
		.time = view->options.now, .pid = process->pid, .comm = process->comm,
		.container = containers_of(view->containers, process->pid), .at = at, .complete = !process->preexisting,
	};
}

void leak_segments(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	const unsigned long long segments = on_devices(process, view);
	const unsigned long long tensors = process->groups.kinds[CUDA_TENSOR].bytes * view->options.sample;

	if (out_is_json()) {
		struct head_row row = head_row(view, process, at);

		row.segments = segments;
		row.tensors = tensors;
		out_row(segment_fields, &row);
		return;
	}
	printf("    tensors have %s", out_bytes(tensors));
	printf(" of %s of device memory", out_bytes(segments));
	/* what was not seen of either would make the rest no fragments */
	if (process->preexisting || view->filtered || view->options.sample > 1)
		fputs(", as far as both were seen", stdout);
	else if (segments && tensors <= segments)
		printf(": %.1f %% is free or in fragments", 100 - 100.0 * tensors / segments);
	putchar('\n');
}

struct doubt {
	unsigned long long n;
	const char *what, *how, *when;
};

static void doubt_json(struct head_row row, unsigned long long n, int which)
{
	struct field fields[DOUBTS + 2];

	memcpy(fields, doubt_fields, sizeof(fields));
	fields[DOUBTS] = doubt_fields[DOUBTS + which];
	fields[DOUBTS + 1] = (struct field){ 0 };
	row.doubts = n;
	out_row(fields, &row);
}

void leak_doubts(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	const struct doubt doubts[] = {	/* in the order of the keys */
		{ view->filtered ? 0 : process->unknown, "free",
		  process->preexisting ? "of memory allocated before " : "of memory whose allocation was not seen",
		  process->preexisting ? view->preexisting->since : "" },
		{ process->replaced, "allocation",
		  "whose address was allocated again without a free: counted as freed", "" },
		{ process->ignored, "allocation", "not counted: too many are live", "" },
		{ process->unsure, "allocation",
		  "of these may have been freed with a context or by a device reset", "" },
	};

	for (const struct doubt *d = doubts; d < doubts + sizeof(doubts) / sizeof(*doubts); d++)
		if (d->n && out_is_json())
			doubt_json(head_row(view, process, at), d->n, d - doubts);
		else if (d->n)
			printf("    %llu %s%s %s%s\n", d->n, d->what, plural(d->n), d->how, d->when);
}
