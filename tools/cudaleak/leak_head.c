/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "base/escape.h"
#include "base/plural.h"
#include "cli/out.h"
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

static void segments_json(const struct leak_view *view, const struct mem_process *process, const char *at,
			  unsigned long long segments)
{
	const struct mem_sum *tensors = &process->groups.kinds[CUDA_TENSOR];
	const char *comm = process->comm, *container = containers_of(view->containers, process->pid);

	fputs("{\"type\":\"segments\",\"time\":", stdout);
	OUT_TIME->json(&view->options.now);
	printf(",\"pid\":%d,\"comm\":", process->pid);
	OUT_STR->json(&comm);
	fputs(",\"container\":", stdout);
	OUT_STR->json(&container);
	printf(",\"at\":\"%s\",\"complete\":%s,\"segment_bytes\":%llu,\"tensor_bytes\":%llu}\n", at,
	       process->preexisting ? "false" : "true", segments, tensors->bytes * view->options.sample);
}

void leak_segments(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	const unsigned long long segments = on_devices(process, view);
	const unsigned long long tensors = process->groups.kinds[CUDA_TENSOR].bytes * view->options.sample;

	if (out_is_json()) {
		segments_json(view, process, at, segments);
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
	const char *key;
	unsigned long long n;
	const char *what, *how, *when;
};

static void doubt_json(const struct leak_view *view, const struct mem_process *process, const char *at,
		       const struct doubt *d)
{
	const char *comm = process->comm, *container = containers_of(view->containers, process->pid);

	fputs("{\"type\":\"uncertain\",\"time\":", stdout);
	OUT_TIME->json(&view->options.now);
	printf(",\"pid\":%d,\"comm\":", process->pid);
	OUT_STR->json(&comm);
	fputs(",\"container\":", stdout);
	OUT_STR->json(&container);
	printf(",\"at\":\"%s\",\"complete\":%s,\"%s\":%llu}\n", at, process->preexisting ? "false" : "true",
	       d->key, d->n);
}

void leak_doubts(const struct leak_view *view, const struct mem_process *process, const char *at)
{
	const struct doubt doubts[] = {
		{ "unknown_frees", view->filtered ? 0 : process->unknown, "free",
		  process->preexisting ? "of memory allocated before " : "of memory whose allocation was not seen",
		  process->preexisting ? view->preexisting->since : "" },
		{ "unseen_frees", process->replaced, "allocation",
		  "whose address was allocated again without a free: counted as freed", "" },
		{ "ignored", process->ignored, "allocation", "not counted: too many are live", "" },
		{ "unsure", process->unsure, "allocation",
		  "of these may have been freed with a context or by a device reset", "" },
	};

	for (const struct doubt *d = doubts; d < doubts + sizeof(doubts) / sizeof(*doubts); d++)
		if (d->n && out_is_json())
			doubt_json(view, process, at, d);
		else if (d->n)
			printf("    %llu %s%s %s%s\n", d->n, d->what, plural(d->n), d->how, d->when);
}
