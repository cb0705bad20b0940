/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A script in the making. */
#ifndef BT_WRITER_H
#define BT_WRITER_H
#include <stdio.h>
#include "cudabt/bt_parse.h"
#include "cudabt/bt_script.h"
#include "cudabt/bt_tables.h"

/* What is written, each in a stream. */
enum { BT_MAIN, BT_FILL, BT_AT_BEGIN, BT_AT_END, BT_CLEAR, BT_NOTES, BT_STREAMS };

struct bt_writer {
	struct bt_script *s;
	FILE *to[BT_STREAMS];
	char *text[BT_STREAMS];	/* of to[], once bt_writer_end() has closed it */
	size_t size[BT_STREAMS];
	struct bt_tables tables;
	const bool *present;	/* by id: a file has it; NULL when the program is only checked */
	int probes;		/* of the program, so far */
	bool any;		/* of CUDA's */
	size_t work;		/* bytes made, and names compared */
	const char *counted;	/* up to here … */
	int line;		/* … are so many ends of lines */
};

/* For a script whose text, length and files are set. */
void bt_writer_begin(struct bt_writer *w, struct bt_script *s, const bool *present);

/* Closes the streams. */
void bt_writer_end(struct bt_writer *w);
void bt_writer_free(struct bt_writer *w);

/* Adds so much work for a part; false with the script's error set if that is too much. */
bool bt_writer_affords(struct bt_writer *w, const struct bt_part *part, size_t work);

/* The line of a place in the program that is not before the last one that was asked for. */
int bt_writer_line(struct bt_writer *w, const char *at);

#endif
