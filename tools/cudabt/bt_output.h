/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What bpftrace prints, on its way to standard output: it holds strings of the traced programs as
 * they are, which a terminal would act upon. */
#ifndef BT_OUTPUT_H
#define BT_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>

enum { BT_LINE = 64 * 1024 };	/* longer lines are passed on in parts */

struct bt_output {		/* all zero: not open */
	bool open, json;
	int from;		/* the pipe's other end, while it is open */
	char kept[BT_LINE + 1];	/* the start of a line; the last byte is for the zero behind it */
	size_t nkept;
};

/* A pipe's end for bpftrace to print to; to be closed when it has been handed over. */
int bt_output_open(struct bt_output *o, bool json);

/* Passes on what there is, by whole lines; to be called every few milliseconds.  If nobody takes
 * more, it stays in the pipe. */
void bt_output_copy(struct bt_output *o);

/* The same when bpftrace has ended: all that is left.  If nobody takes it, says so. */
void bt_output_finish(struct bt_output *o);

#endif
