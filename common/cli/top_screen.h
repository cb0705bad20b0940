/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A full-screen view of lines, redrawn in place on the terminal. */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H
#include <stdbool.h>

/* Any other key is its character. */
enum { SCREEN_NONE = -1, SCREEN_RESIZED = 0x1000, SCREEN_UP, SCREEN_DOWN, SCREEN_PAGE_UP,
       SCREEN_PAGE_DOWN, SCREEN_HOME, SCREEN_LEFT, SCREEN_RIGHT };

/* Takes over the terminal; false if standard input or output is not a terminal, or TERM is unknown.
 * screen_close() or exit restores it. */
bool screen_open(void);
void screen_close(void);
bool screen_is_open(void);

/* Returns a pressed key, or SCREEN_NONE; does not block. */
int screen_key(void);

int screen_lines(void);
int screen_columns(void);

/* Returns how many bytes of the text fit into columns, at one column per character, and sets *used
 * to the columns they take. */
int screen_fit(const char *text, int columns, int *used);

/* To draw, call screen_begin(), then screen_line() for lines from the top, cut to the terminal's
 * width and height, then screen_end().  The text must already be safe for a terminal. */
enum screen_style { SCREEN_PLAIN, SCREEN_BOLD, SCREEN_REVERSE };
void screen_begin(void);
void screen_line(enum screen_style style, const char *text);
void screen_end(void);

#endif
