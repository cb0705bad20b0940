/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Colors in text, for people who look at a terminal. */
#ifndef TRACE_COLOR_H
#define TRACE_COLOR_H
#include <stdbool.h>
#include <stdio.h>

/* In the order of the words of the option --color. */
#define COLOR_WORDS "auto|always|never"
enum color_when { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Call after out_init().  Return true if text on standard output is to have colors: by default on a terminal, unless
 * NO_COLOR is set (https://no-color.org) or the terminal has none. */
bool color_wanted(enum color_when when);

enum color { COLOR_NAME, COLOR_ERROR };

/* Begin and end what has a color; nothing is written if not wanted. */
void color_begin(FILE *f, bool wanted, enum color color);
void color_end(FILE *f, bool wanted);

#endif
