/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Passes bpftrace's output on to standard output, escaped: it contains raw strings of the traced
 * programs, which a terminal would act on. */
#ifndef BT_OUTPUT_H
#define BT_OUTPUT_H
#include <stdbool.h>
#include <stddef.h>

enum { BT_LINE = 64 * 1024 };	/* longer lines are passed on in pieces */

struct bt_output {		/* all zero: not open */
	bool open, json;
	int from;		/* the read end of the pipe, while it is open */
	char kept[BT_LINE + 1];	/* the start of a line; the last byte is for a terminating NUL */
	size_t nkept;
	bool within;		/* printed part of a line */
	bool printed, blank;	/* printed a line; there was an empty line after the last one */
};

/* Returns the end of a pipe for bpftrace to print to; close it once bpftrace has it. */
int bt_output_open(struct bt_output *o, bool json);

/* Passes on what is available, in whole lines, of several empty ones in a row one, and those at the start
 * and the end not at all: bpftrace prints some for each empty map.  In JSON none is an object.  Call every few milliseconds.  If our output blocks,
 * the rest stays in the pipe. */
void bt_output_copy(struct bt_output *o);

/* Call when bpftrace has ended: passes on all that is left, or warns that our output is not
 * read. */
void bt_output_finish(struct bt_output *o);

#endif
