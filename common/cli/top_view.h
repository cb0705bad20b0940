/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A table on the terminal's screen that the user scrolls, pauses and sorts: the common part of live
 * tools. */
#ifndef TOP_VIEW_H
#define TOP_VIEW_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct top_view {
	const char *who;	/* what is traced: untrusted text */
	const char *const *help;	/* the tool's own keys, a line each, NULL at the end */
	void *ctx;		/* passed to the functions */
	void (*draw)(void *ctx);	/* prepares the lines and calls top_view_draw() */
	void (*key)(void *ctx, int key);	/* handles the tool's own keys */
	/* print the title line, the column headings, and line i, without newlines */
	void (*title)(void *ctx, FILE *f);
	void (*head)(void *ctx, FILE *f);
	void (*line)(void *ctx, FILE *f, size_t i);
	int fixed;		/* columns that stay when the rest is scrolled sideways */
	/* state */
	bool paused, helping;
	long scroll;
	int shift;		/* columns scrolled sideways */
};

/* Draws a table of n lines, from the scroll position. */
void top_view_draw(struct top_view *v, size_t n);

/* For event_loop.tick: handles pressed keys, redrawing after each; false if the user quits. */
bool top_view_keys(struct top_view *v);

/* Returns the index of the key in keys, or -1. */
int top_view_index(const char *keys, int key);

/* Opens a memory stream for one line. */
FILE *top_view_line(char **buf, size_t *size);

#endif
