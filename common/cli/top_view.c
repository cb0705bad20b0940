/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "base/escape.h"
#include "cli/out.h"
#include "cli/top_screen.h"
#include "cli/top_view.h"

/* Columns that an arrow scrolls; names are not longer than that. */
enum { SHIFT = 8, MAX_SHIFT = 8192 };

int top_view_index(const char *keys, int key)
{
	const char *at = key > 0 && key < 128 ? strchr(keys, key) : NULL;

	return at ? at - keys : -1;
}

FILE *top_view_line(char **buf, size_t *size)
{
	FILE *f = open_memstream(buf, size);

	if (!f)
		die(errno, "out of memory");
	return f;
}

/* Scrolls a line sideways, but for the columns that stay. */
static void scroll_sideways(const struct top_view *v, char *text)
{
	int used, fixed = screen_fit(text, v->fixed, &used), gone = screen_fit(text + fixed, v->shift, &used);

	memmove(text + fixed, text + fixed + gone, strlen(text + fixed + gone) + 1);
}

static void put(enum screen_style style, FILE *f, char **buf)
{
	fclose(f);
	screen_line(style, *buf);
	free(*buf);
}

static void put_row(const struct top_view *v, enum screen_style style, FILE *f, char **buf)
{
	fflush(f);
	scroll_sideways(v, *buf);
	put(style, f, buf);
}

static void draw_help(const struct top_view *v)
{
	screen_line(SCREEN_PLAIN, "");
	for (size_t i = 0; v->help[i]; i++)
		screen_line(SCREEN_PLAIN, v->help[i]);
	screen_line(SCREEN_PLAIN, "  arrows, Page Up, Page Down, Home  scroll, also sideways");
	screen_line(SCREEN_PLAIN, "  space, p  pause        q  quit");
	screen_line(SCREEN_PLAIN, "");
	screen_line(SCREEN_PLAIN, "  press any key to return");
}

void top_view_draw(struct top_view *v, size_t n)
{
	size_t size, from = v->scroll > 0 ? v->scroll : 0;
	char *buf;
	FILE *f;

	from = from < n ? from : n ? n - 1 : 0;
	v->scroll = from;
	screen_begin();
	f = top_view_line(&buf, &size);
	fprintf(f, "%s  ", out_clock());
	v->title(v->ctx, f);
	fprintf(f, "%s  (h: help)  ", v->paused ? "  [paused]" : "");
	escape_text(f, v->who);
	put(SCREEN_BOLD, f, &buf);
	f = top_view_line(&buf, &size);
	v->head(v->ctx, f);
	if (v->fixed)
		put(SCREEN_REVERSE, f, &buf);
	else
		put_row(v, SCREEN_REVERSE, f, &buf);
	if (v->helping)
		draw_help(v);
	for (size_t i = from; i < n && !v->helping && (int)(i - from) < screen_lines(); i++) {
		f = top_view_line(&buf, &size);
		v->line(v->ctx, f, i);
		put_row(v, SCREEN_PLAIN, f, &buf);
	}
	screen_end();
}

bool top_view_keys(struct top_view *v)
{
	int page = screen_lines() - 3, key;

	while ((key = screen_key()) != SCREEN_NONE) {
		bool helped = v->helping && key != SCREEN_RESIZED;

		if (key == 'q')
			return false;
		v->helping = helped ? false : key == 'h' || key == '?' || v->helping;
		v->paused ^= key == ' ' || key == 'p';
		v->scroll += key == SCREEN_DOWN ? 1 : key == SCREEN_UP ? -1 :
			     key == SCREEN_PAGE_DOWN ? page : key == SCREEN_PAGE_UP ? -page : 0;
		v->shift += key == SCREEN_RIGHT && v->shift < MAX_SHIFT ? SHIFT : 0;
		v->shift -= key == SCREEN_LEFT && v->shift ? SHIFT : 0;
		if (key == SCREEN_HOME)
			v->scroll = v->shift = 0;
		v->key(v->ctx, key);
		v->draw(v->ctx);
	}
	return true;
}
