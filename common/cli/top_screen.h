/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A full-screen view of lines, redrawn in place on the terminal. */
#ifndef CLI_TOP_SCREEN_H
#define CLI_TOP_SCREEN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Any other key is its character, or a byte of it.  HELP, FILTER, TREE and QUIT are F1, F4, F5 and F10, as in htop. */
enum { SCREEN_NONE = -1, SCREEN_RESIZED = 0x1000, SCREEN_UP, SCREEN_DOWN, SCREEN_PAGE_UP,
       SCREEN_PAGE_DOWN, SCREEN_HOME, SCREEN_LEFT, SCREEN_RIGHT, SCREEN_ENTER, SCREEN_ESCAPE, SCREEN_BACKSPACE,
       SCREEN_HELP, SCREEN_FILTER, SCREEN_TREE, SCREEN_QUIT };

/* The longest filter, with its end. */
enum { TOP_FILTER = 64 };

/* To draw, call screen_begin(), then screen_line() for lines from the top, cut to the terminal's
 * width and height, then screen_end().  The text must already be safe for a terminal. */
enum screen_style { SCREEN_PLAIN, SCREEN_BOLD, SCREEN_REVERSE };
void screen_begin(void);
void screen_line(enum screen_style style, const char *text);
void screen_end(void);

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
	/* lines between title and headings; NULL: none */
	size_t nabove;
	void (*above)(void *ctx, FILE *f, size_t i);
	/* prints the text of line i in which the filter is looked for; NULL: the line */
	void (*words)(void *ctx, FILE *f, size_t i);
	bool page;		/* the lines are a text, which is not filtered */
	bool selects;		/* one line is marked: the arrows move the mark, and the lines only to show it */
	int fixed;		/* columns that stay when the rest is scrolled sideways */
	char filter[TOP_FILTER];	/* only lines that have this text, in any case, are shown; "": all */
	/* state */
	bool paused, helping;
	bool filtering;		/* the filter is being typed */
	long marked;		/* which line has the mark, of those that top_view_draw() was called with; -1: none */
	long scroll, selected;	/* selected: the line with the mark */
	int shift;		/* columns scrolled sideways */
};

/* Takes over the terminal; false if standard input or output is not a terminal, or TERM is unknown.
 * screen_close() or exit restores it. */
bool screen_open(void);
void screen_close(void);
bool screen_is_open(void);

int screen_lines(void);
int screen_columns(void);

/* Returns how many bytes of the text fit into columns, at one column per character, and sets *used
 * to the columns they take. */
int screen_fit(const char *text, int columns, int *used);

/* Draws a table of n lines, from the scroll position. */
void top_view_draw(struct top_view *v, size_t n);

/* Return true if line i has the filter's text. */
bool top_view_has(const struct top_view *v, size_t i);

/* For event_loop.tick: handles pressed keys, redrawing after each; false if the user quits. */
bool top_view_keys(struct top_view *v);

/* Returns the index of the key in keys, or -1. */
int top_view_index(const char *keys, int key);

/* Opens a memory stream for one line. */
FILE *top_view_line(char **buf, size_t *size);

#endif
