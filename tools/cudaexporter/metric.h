/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The metrics, as metrics.def declares them. */
#ifndef METRIC_H
#define METRIC_H
#include <stdio.h>

enum metric {
#define METRIC(id, name, unit, type, labels, help) METRIC_##id,
#include "cudaexporter/metrics.def"
#undef METRIC
	METRIC_MAX
};

/* METRIC_INFO: a gauge that is always 1 and whose labels matter. */
enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO };

/* METRIC_NS: nanoseconds, shown as seconds. */
enum metric_unit { METRIC_ONE, METRIC_NS };

struct metric_info {
	const char *name, *labels, *help;
	enum metric_unit unit;
	enum metric_type type;
};

extern const struct metric_info metrics[METRIC_MAX];

/* Returns how many buckets a histogram has, with the one for all that is larger, and the upper bound of one, in
 * the metric's unit. */
unsigned metric_buckets(enum metric m);
unsigned long long metric_bound(enum metric m, unsigned bucket);

/* What tells a series from the others of its metric and process.  By the labels of the metric:
 * device,memory: a as in abi/device.h, b an enum cuda_memory     device,age: b in seconds
 * device,kind: b an enum launch_kind                             group: a an enum export_group
 * function,error: a an enum cuda_id, b the error; a METRIC_OTHER: "other" both
 * error: a an enum cuda_lib, b the error                         function: a an enum cuda_id + 1, or 0: all
 * direction,async: a an enum cuda_direction, b 0 or 1            direction: a likewise
 * any others: b is a const char * to the labels as they are printed, which outlives the series */
struct metric_labels {
	unsigned a;
	unsigned long long b;
};

#define METRIC_OTHER	(~0u)

/* Writes them, device="0",memory="pool": nothing if there are none. */
void metric_labels_print(FILE *f, enum metric m, const struct metric_labels *labels);

#endif
