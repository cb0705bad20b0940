/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "escape.h"
#include "launch_line.h"
#include "launches.h"
#include "out.h"
#include "syms.h"
#include "top_screen.h"

enum { WIDE = 100 };	/* columns of the terminal, to show all columns */

static void put(enum screen_style style, FILE *f, char **buf)
{
	fclose(f);
	screen_line(style, *buf);
	free(*buf);
}

static void draw_help(void)
{
	static const char *const help[] = {
		"", "  l  sort by launches in the interval     q  quit",
		"  t  by total                             space, p  pause",
		"  d  by threads of a launch               r  reverse the order",
		"  n  by name                              f  full names, or short ones",
		"  i  by process id                        v  by process, or by kernel",
		"  arrows, Page Up, Page Down, Home  scroll",
		"", "  any key: back",
	};

	for (size_t i = 0; i < sizeof(help) / sizeof(*help); i++)
		screen_line(SCREEN_PLAIN, help[i]);
}

/* " < caller < its caller" */
static void callers(FILE *f, const struct stack *s)
{
	const char *name;

	for (int i = 0; i < 8 && stack_frame(s, i, &name); i++) {
		fputs(" < ", f);
		escape_text(f, name ? name : "?");
	}
}

static void draw(struct launch_view *v)
{
	bool narrow = screen_columns() < WIDE;
	unsigned long long launches = 0;
	struct line *lines;
	size_t n, size, max, from;
	char *buf;
	FILE *f;

	lines = launch_lines(v, false, true, &n);
	for (size_t i = 0; i < n; i++)
		launches += lines[i].row.launches;
	max = v->rows ? (size_t)v->rows : n;
	max = n < max ? n : max;
	from = v->scroll > 0 ? v->scroll : 0;
	from = from < max ? from : max ? max - 1 : 0;
	v->scroll = from;
	screen_begin();
	f = launch_line_open(&buf, &size);
	fprintf(f, "%s  %.1f launches/s, %llu in all%s  (h: help)  ", out_clock(),
		v->interval > 0 ? launches / v->interval : 0, launches_total(),
		v->paused ? "  [paused]" : "");
	escape_text(f, v->who);
	put(SCREEN_BOLD, f, &buf);
	f = launch_line_open(&buf, &size);
	launch_head(f, v, narrow);
	put(SCREEN_REVERSE, f, &buf);
	if (v->help)
		draw_help();
	for (size_t i = from; i < max && !v->help && (int)(i - from) < screen_lines(); i++) {
		f = launch_line_open(&buf, &size);
		launch_text(f, v, &lines[i], narrow);
		if (v->stacks && !v->by_process)
			callers(f, lines[i].row.stack);
		put(SCREEN_PLAIN, f, &buf);
	}
	screen_end();
	launch_lines_free(lines, n);
}

void launch_view_update(struct launch_view *v)
{
	if (v->paused)
		return;
	launch_measure(v, false);
	draw(v);
}

static void sort_key(struct launch_view *v, int key)
{
	static const char keys[] = "ltdni";
	const char *at = key > 0 && key < 128 ? strchr(keys, key) : NULL;

	if (at)
		v->sort = at - keys;
}

bool launch_view_keys(struct launch_view *v)
{
	int page = screen_lines() - 3, key;

	while ((key = screen_key()) != SCREEN_NONE) {
		bool helped = v->help && key != SCREEN_RESIZED;

		if (key == 'q')
			return false;
		v->help = helped ? false : key == 'h' || key == '?' || v->help;
		sort_key(v, key);
		v->paused ^= key == ' ' || key == 'p';
		v->reverse ^= key == 'r';
		v->full ^= key == 'f';
		v->by_process ^= key == 'v';
		v->scroll += key == SCREEN_DOWN ? 1 : key == SCREEN_UP ? -1 :
			     key == SCREEN_PAGE_DOWN ? page : key == SCREEN_PAGE_UP ? -page : 0;
		v->scroll = key == SCREEN_HOME ? 0 : v->scroll;
		draw(v);
	}
	return true;
}
