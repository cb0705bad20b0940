/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdbool.h>
#include "abi/cudaexporter.h"
#include "abi/launch.h"
#include "abi/device.h"
#include "api/cuda_err.h"
#include "api/cuda_fn.h"
#include "model/memory.h"
#include "cudaexporter/metric.h"

const struct metric_info metrics[METRIC_MAX] = {
#define METRIC(id, n, u, t, l, h) { .name = n, .labels = l, .help = h, .unit = METRIC_##u, .type = METRIC_##t },
#include "cudaexporter/metrics.def"
#undef METRIC
};

unsigned metric_buckets(enum metric m)
{
	return m == METRIC_COPY_SIZE ? EXPORT_SIZES : EXPORT_TIMES;
}

unsigned long long metric_bound(enum metric m, unsigned bucket)
{
	return m == METRIC_COPY_SIZE ? export_size_bound(bucket) : export_time_bound(bucket);
}

static const char *direction_label(unsigned direction)
{
	static const char *const names[] = { "default", "h2d", "d2h", "d2d", "h2h", "p2p", "default" };

	return direction < sizeof(names) / sizeof(*names) ? names[direction] : "default";
}

static void print_device(FILE *f, unsigned device)
{
	if (device == DEVICE_NONE)
		fputs("device=\"none\",", f);
	else if (!device)
		fputs("device=\"unknown\",", f);
	else
		fprintf(f, "device=\"%u\",", device - 1);
}

static void print_error(FILE *f, enum cuda_lib lib, int code)
{
	char number[CUDA_ERR_NUMBER];

	fprintf(f, "error=\"%s\"", cuda_err_text(lib, code, number));
}

static void print_call(FILE *f, const struct metric_labels *l)
{
	if (l->a >= CUDA_ID_MAX) {
		fputs("function=\"other\",error=\"other\"", f);
		return;
	}
	fprintf(f, "function=\"%s\",", cuda_fns[l->a].name);
	print_error(f, cuda_fns[l->a].lib, l->b);
}

void metric_labels_print(FILE *f, enum metric m, const struct metric_labels *l)
{
	static const char *const groups[EXPORT_GROUPS] = { "alloc", "copy", "launch", "sync" };
	static const char *const kinds[LAUNCH_KIND_MAX] = { "kernel", "cooperative", "graph" };

	switch (m) {
	case METRIC_HELD_BYTES: case METRIC_HELD_COUNT: case METRIC_HELD_PEAK: case METRIC_ALLOCATED_BYTES:
	case METRIC_FREED_BYTES: case METRIC_ALLOCATIONS: case METRIC_FREES:
		print_device(f, l->a);
		fprintf(f, "memory=\"%s\"", memory_name(l->b) ?: "unknown");
		return;
	case METRIC_HELD_OLDER:
		print_device(f, l->a);
		fprintf(f, "age=\"%llu\"", l->b);
		return;
	case METRIC_LAUNCHES:
		print_device(f, l->a);
		fprintf(f, "kind=\"%s\"", l->b < LAUNCH_KIND_MAX ? kinds[l->b] : "kernel");
		return;
	case METRIC_CALLS_RUNNING: case METRIC_CALL_RUNNING: case METRIC_PROBE_HITS:
		fprintf(f, "group=\"%s\"", l->a < EXPORT_GROUPS ? groups[l->a] : "alloc");
		return;
	case METRIC_ERRORS:
		print_call(f, l);
		return;
	case METRIC_STICKY_ERRORS:
		print_error(f, l->a, l->b);
		return;
	case METRIC_COPY_SIZE:
		fprintf(f, "direction=\"%s\",async=\"%s\"", direction_label(l->a), l->b ? "true" : "false");
		return;
	case METRIC_COPY_DURATION:
		fprintf(f, "direction=\"%s\"", direction_label(l->a));
		return;
	case METRIC_SYNC_DURATION:
		if (l->a && l->a <= CUDA_ID_MAX)
			fprintf(f, "function=\"%s\"", cuda_fns[l->a - 1].name);
		return;
	default:
		if (l->b)
			fputs((const char *)l->b, f);
	}
}
