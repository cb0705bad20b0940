/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A view of lines that is drawn again and again in place, on the terminal. */
#ifndef TOP_SCREEN_H
#define TOP_SCREEN_H
#include <stdbool.h>

/* Other keys are their character. */
enum { SCREEN_NONE = -1, SCREEN_RESIZED = 0x1000, SCREEN_UP, SCREEN_DOWN, SCREEN_PAGE_UP,
       SCREEN_PAGE_DOWN, SCREEN_HOME };

/* Takes the terminal; false if standard input and output are none, or of a kind that is not
 * known (TERM).  It is given back by screen_close(), or at exit. */
bool screen_open(void);
void screen_close(void);
bool screen_is_open(void);

/* A key that was pressed, or SCREEN_NONE; does not wait. */
int screen_key(void);

int screen_lines(void);
int screen_columns(void);

/* How many bytes of the text fit into so many columns, a character taking one; how many it
 * takes is left in *used. */
int screen_fit(const char *text, int columns, int *used);

/* Draws: first screen_begin(), then lines from the top, cut to the terminal's width and height,
 * then screen_end().  The text must have been made safe for a terminal. */
enum screen_style { SCREEN_PLAIN, SCREEN_BOLD, SCREEN_REVERSE };
void screen_begin(void);
void screen_line(enum screen_style style, const char *text);
void screen_end(void);

#endif
