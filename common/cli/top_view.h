/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A table on the terminal's screen that its user scrolls, pauses and sorts: what live tools have
 * in common. */
#ifndef TOP_VIEW_H
#define TOP_VIEW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct top_view {
	const char *who;	/* is traced: untrusted */
	const char *const *help;	/* what the tool's own keys do, a line each, NULL at the end */
	void *ctx;		/* for the functions */
	void (*draw)(void *ctx);	/* gets the lines ready and calls top_view_draw() */
	void (*key)(void *ctx, int key);	/* one of the tool's own */
	/* write what is in the first line, the columns' heads, and line i, without their ends */
	void (*title)(void *ctx, FILE *f);
	void (*head)(void *ctx, FILE *f);
	void (*line)(void *ctx, FILE *f, size_t i);
	/* state */
	bool paused, helping;
	long scroll;
};

/* Draws a table of n lines, from the first that is scrolled to. */
void top_view_draw(struct top_view *v, size_t n);

/* For events.tick: does what keys say that were pressed, and draws then; false if it is to
 * end. */
bool top_view_keys(struct top_view *v);

/* A line that is written to memory. */
FILE *top_view_line(char **buf, size_t *size);

#endif
