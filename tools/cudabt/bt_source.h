/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The text of a bpftrace program, and errors in it. */
#ifndef BT_SOURCE_H
#define BT_SOURCE_H
#include "cudabt/bt_lex.h"

struct bt_source {
	const char *name;	/* for messages */
	char *text;		/* the caller frees it */
	size_t len;
};

/* Reads a file.  A name without a slash is one of the programs that come with this one.  Exits 1 with the reason if it cannot be read. */
struct bt_source bt_source_file(const char *name);

/* The program on the command line. */
struct bt_source bt_source_text(const char *text);

/* Prints "tool: NAME:LINE:COLUMN: error", and the line with a caret under the position. */
void bt_source_error(const struct bt_source *s, const struct bt_error *e);

#endif
