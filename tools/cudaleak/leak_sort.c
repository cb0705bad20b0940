/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdlib.h>
#include "cudaleak/leak.h"

static int more_first(unsigned long long a, unsigned long long b)
{
	return (a < b) - (a > b);
}

static int by_key(const struct leak_group *p, const struct leak_group *q, int sort)
{
	switch (sort) {
	case LEAK_SORT_PEAK:
		return more_first(p->peak, q->peak);
	case LEAK_SORT_GROWTH:
		return (p->growth < q->growth) - (p->growth > q->growth);
	case LEAK_SORT_COUNT:
		return more_first(p->count, q->count);
	case LEAK_SORT_AGE:
		return more_first(q->oldest, p->oldest);
	case LEAK_SORT_DEVICE:	/* without one and unknown ones last */
		return more_first(q->device - 1, p->device - 1);
	}
	return 0;
}

static int compare(const void *a, const void *b, void *ctx)
{
	const struct leak_options *options = ctx;
	const struct leak_group *p = a, *q = b;
	int order = by_key(p, q, options->sort);

	order = order ? order : more_first(p->bytes, q->bytes);
	order = order ? order : more_first(p->count, q->count);
	order = order ? order : more_first(q->oldest, p->oldest);
	return options->reverse ? -order : order;
}

void leak_sort(struct leak_group *groups, size_t n, const struct leak_options *options)
{
	if (n)
		qsort_r(groups, n, sizeof(*groups), compare, (void *)options);
}
