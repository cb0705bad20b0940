/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* One process in lines of text: what it holds, launches, copies and waits for, its kernels and calls in flight, and the commands
 * that show more. */
#ifndef CUDATOP_DETAIL_H
#define CUDATOP_DETAIL_H
#include <stdbool.h>
#include <stddef.h>
#include "cudatop/kernels.h"

struct top_rows;

struct detail_view {
	char **lines;
	size_t n, room;
	struct top_kernels kernels;
	bool python;		/* it runs Python */
};

/* Sets the lines of processes.detail.pid, after top_rows_gather(). */
void detail_set(struct detail_view *d, struct top_rows *rows);

void detail_free(struct detail_view *d);

#endif
