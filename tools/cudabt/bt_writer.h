/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A script being written. */
#ifndef BT_WRITER_H
#define BT_WRITER_H
#include <stdio.h>
#include "cudabt/bt_parse.h"
#include "cudabt/bt_script.h"
#include "cudabt/bt_tables.h"

/* The streams to write to: BT_HEAD is what stands before the first CUDA probe. */
enum { BT_HEAD, BT_MAIN, BT_FILL, BT_AT_BEGIN, BT_AT_END, BT_CLEAR, BT_NOTES, BT_STREAMS };

struct bt_writer {
	struct bt_script *s;
	FILE *to[BT_STREAMS];
	char *text[BT_STREAMS];	/* from to[], set when bt_writer_end() closes it */
	size_t size[BT_STREAMS];
	struct bt_tables tables;
	const bool *present;	/* by id: a file has it; NULL if only checking the program */
	int probes;		/* the program's probes so far */
	bool any;		/* the program has CUDA probes */
	size_t work;		/* bytes written and names compared */
	const char *counted;	/* up to here … */
	int line;		/* … there are this many newlines */
};

/* For a script whose text, length and files are set. */
void bt_writer_begin(struct bt_writer *w, struct bt_script *s, const bool *present);

/* Closes the streams. */
void bt_writer_end(struct bt_writer *w);
void bt_writer_free(struct bt_writer *w);

/* Adds work done for a part.  Returns false with the script's error set if it is too much. */
bool bt_writer_affords(struct bt_writer *w, const struct bt_part *part, size_t work);

/* The stream for what is copied from the program. */
FILE *bt_writer_copy(struct bt_writer *w);

/* The line number of at, which must not precede the position of the previous call. */
int bt_writer_line(struct bt_writer *w, const char *at);

#endif
