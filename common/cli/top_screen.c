/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <curses.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/die.h"
#include "base/escape.h"
#include "cli/out.h"
#include "cli/top_screen.h"

/* Two keys, and how long a byte of a longer sequence may take, ms. */
enum { ESCAPE = 27, DELETE = 127, ESCAPE_MS = 25 };

static SCREEN *screen;
static int line;

bool screen_open(void)
{
	static bool at_exit;
	static FILE *terminal;

	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
		return false;
	setlocale(LC_CTYPE, "");	/* names may have non-ASCII characters */
	/* not initscr(): it exits if the terminal is unknown */
	if (!terminal)	/* stdout is our own stream (out.c) */
		terminal = fdopen(STDOUT_FILENO, "w");
	screen = terminal ? newterm(NULL, terminal, stdin) : NULL;
	if (screen && !tigetstr("cup")) {	/* TERM=dumb: ncurses would print spaces where it cannot move the cursor */
		endwin();
		delscreen(screen);
		screen = NULL;
	}
	if (!screen)
		return false;
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	curs_set(0);
	if (!at_exit)
		atexit(screen_close);
	at_exit = true;
	return true;
}

void screen_close(void)
{
	if (!screen)
		return;
	endwin();
	delscreen(screen);
	screen = NULL;
}

bool screen_is_open(void)
{
	return screen;
}

/* Returns a pressed key, or SCREEN_NONE; does not block. */
static int screen_key(void)
{
	int c = getch();

	switch (c) {
	case ERR:
		return SCREEN_NONE;
	case KEY_RESIZE:
		return SCREEN_RESIZED;
	case KEY_UP:
		return SCREEN_UP;
	case KEY_DOWN:
		return SCREEN_DOWN;
	case KEY_LEFT:
		return SCREEN_LEFT;
	case KEY_RIGHT:
		return SCREEN_RIGHT;
	case KEY_PPAGE:
		return SCREEN_PAGE_UP;
	case KEY_NPAGE:
		return SCREEN_PAGE_DOWN;
	case KEY_HOME:
		return SCREEN_HOME;
	case KEY_ENTER:
	case '\n':
	case '\r':
		return SCREEN_ENTER;
	case ESCAPE:
		return SCREEN_ESCAPE;
	case KEY_BACKSPACE:
	case DELETE:
	case '\b':
		return SCREEN_BACKSPACE;
	case KEY_F(1):
		return SCREEN_HELP;
	case KEY_F(4):
		return SCREEN_FILTER;
	case KEY_F(5):
		return SCREEN_TREE;
	case KEY_F(10):
		return SCREEN_QUIT;
	}
	return c;
}

int screen_lines(void)
{
	return LINES;
}

int screen_columns(void)
{
	return COLS;
}

int screen_fit(const char *text, int columns, int *used)
{
	int len = 0;

	/* a character may have several bytes; all but the first begin with the bits 10 */
	for (*used = 0; text[len] && *used < columns; ++*used)
		do
			len++;
		while ((text[len] & 0xc0) == 0x80);
	return len;
}

void screen_begin(void)
{
	erase();
	line = 0;
}

void screen_line(enum screen_style style, const char *text)
{
	static const attr_t attrs[] = { A_NORMAL, A_BOLD, A_REVERSE };
	int columns, len;

	if (line >= LINES)
		return;
	len = screen_fit(text, COLS, &columns);
	attrset(attrs[style]);
	mvaddnstr(line, 0, text, len);
	if (style == SCREEN_REVERSE)
		for (; columns < COLS; columns++)
			addch(' ');
	attrset(A_NORMAL);
	line++;
}

void screen_end(void)
{
	/* the traced command's output may have overwritten the screen */
	redrawwin(stdscr);
	refresh();
}

/* A table on the terminal's screen that the user scrolls, pauses and sorts: the common part of live
 * tools. */

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

/* Scrolls a line sideways, except the columns that stay. */
static void scroll_sideways(const struct top_view *v, char *text)
{
	int used, fixed = screen_fit(text, v->fixed, &used), gone = screen_fit(text + fixed, v->shift, &used);

	memmove(text + fixed, text + fixed + gone, strlen(text + fixed + gone) + 1);
}

static void top_screen_put(enum screen_style style, FILE *f, char **buf)
{
	fclose(f);
	screen_line(style, *buf);
	free(*buf);
}

static void put_row(const struct top_view *v, enum screen_style style, FILE *f, char **buf)
{
	fflush(f);
	scroll_sideways(v, *buf);
	top_screen_put(style, f, buf);
}

static void draw_help(const struct top_view *v)
{
	screen_line(SCREEN_PLAIN, "");
	for (size_t i = 0; v->help[i]; i++)
		screen_line(SCREEN_PLAIN, v->help[i]);
	screen_line(SCREEN_PLAIN, v->selects ? "  arrows, Page Up, Page Down, Home  choose a line, scroll sideways" :
					       "  arrows, Page Up, Page Down, Home  scroll, also sideways");
	screen_line(SCREEN_PLAIN, "  /, F4  show only lines with a text; Enter keeps it, Escape clears it");
	screen_line(SCREEN_PLAIN, "  space, p  pause        h, ?, F1  help        q, F10  quit");
	screen_line(SCREEN_PLAIN, "");
	screen_line(SCREEN_PLAIN, "  press any key to return");
}

static int lines_of_table(const struct top_view *v)
{
	const int n = screen_lines() - 2 - (int)v->nabove;

	return n > 1 ? n : 1;
}

/* Returns the first line to show of n. */
static size_t scroll_to(struct top_view *v, size_t n)
{
	const long last = n ? (long)n - 1 : 0, rows = lines_of_table(v);

	v->selected = v->selected < 0 ? 0 : v->selected < last ? v->selected : last;
	if (v->selects && v->scroll > v->selected)
		v->scroll = v->selected;
	if (v->selects && v->scroll < v->selected - rows + 1)
		v->scroll = v->selected - rows + 1;
	v->scroll = v->scroll < 0 ? 0 : v->scroll < last ? v->scroll : last;
	return v->scroll;
}

static void draw_title(const struct top_view *v)
{
	size_t size;
	char *buf;
	FILE *f = top_view_line(&buf, &size);

	fprintf(f, "%s  ", out_clock());
	if (v->filtering || *v->filter) {
		fputs("filter: ", f);
		escape_text(f, v->filter);
		fputs(v->filtering ? "_  " : "  ", f);
	}
	fputs(v->paused ? "[paused]  " : "", f);
	v->title(v->ctx, f);
	fputs("  (h: help)  ", f);
	escape_text(f, v->who);
	top_screen_put(SCREEN_BOLD, f, &buf);
	for (size_t i = 0; i < v->nabove; i++) {
		f = top_view_line(&buf, &size);
		v->above(v->ctx, f, i);
		top_screen_put(SCREEN_PLAIN, f, &buf);
	}
}

/* ---- The filter */

bool top_view_has(const struct top_view *v, size_t i)
{
	size_t size;
	char *buf;
	FILE *f;
	bool has;

	if (!*v->filter || v->page)
		return true;
	f = top_view_line(&buf, &size);
	(v->words ?: v->line)(v->ctx, f, i);
	fclose(f);
	has = strcasestr(buf, v->filter);
	free(buf);
	return has;
}

/* Returns the indexes of the lines that are shown, *nshown of them.  The caller frees them. */
static size_t *lines_shown(const struct top_view *v, size_t n, size_t *nshown)
{
	size_t *shown = xcalloc(n + 1, sizeof(*shown));

	*nshown = 0;
	for (size_t i = 0; i < n; i++)
		if (top_view_has(v, i))
			shown[(*nshown)++] = i;
	return shown;
}

/* Removes the last character: bytes after its first begin with the bits 10. */
static void drop_character(char *text)
{
	size_t len = strlen(text);

	while (len && (text[--len] & 0xc0) == 0x80)
		;
	text[len] = '\0';
}

/* Returns false for a key that is not part of the filter's text. */
static bool edit_filter(struct top_view *v, int key)
{
	const size_t len = strlen(v->filter);

	if (key == SCREEN_ENTER || key == SCREEN_ESCAPE)
		v->filtering = false;
	if (key == SCREEN_ESCAPE)
		*v->filter = '\0';
	else if (key == SCREEN_BACKSPACE)
		drop_character(v->filter);
	else if (key >= ' ' && key <= 0xff && len < sizeof(v->filter) - 1)
		memcpy(v->filter + len, (char[]){ key, '\0' }, 2);
	return key <= 0xff || key == SCREEN_ENTER || key == SCREEN_ESCAPE || key == SCREEN_BACKSPACE;
}

/* Returns true if that was all the key is for. */
static bool filter_key(struct top_view *v, int key)
{
	if (v->page || v->helping)
		return false;
	if (v->filtering)
		return edit_filter(v, key);
	if (key == '/' || key == SCREEN_FILTER)
		return v->filtering = true;
	if (key != SCREEN_ESCAPE || !*v->filter)
		return false;
	*v->filter = '\0';
	return true;
}

/* ---- Drawing and keys */

static void draw_lines(const struct top_view *v, const size_t *shown, size_t n, size_t from)
{
	for (size_t i = from; i < n && (int)(i - from) < screen_lines(); i++) {
		size_t size;
		char *buf;
		FILE *f = top_view_line(&buf, &size);

		v->line(v->ctx, f, shown[i]);
		put_row(v, v->selects && (long)i == v->selected ? SCREEN_BOLD : SCREEN_PLAIN, f, &buf);
	}
}

void top_view_draw(struct top_view *v, size_t n)
{
	size_t size, nshown, *shown = lines_shown(v, n, &nshown), from = scroll_to(v, nshown);
	char *buf;
	FILE *f;

	screen_begin();
	draw_title(v);
	f = top_view_line(&buf, &size);
	v->head(v->ctx, f);
	if (v->fixed)
		top_screen_put(SCREEN_REVERSE, f, &buf);
	else
		put_row(v, SCREEN_REVERSE, f, &buf);
	if (v->helping)
		draw_help(v);
	else
		draw_lines(v, shown, nshown, from);
	v->marked = nshown ? (long)shown[v->selected] : -1;
	free(shown);
	screen_end();
}

static void scroll_key(struct top_view *v, int key)
{
	const int page = lines_of_table(v) - 1;
	long *at = v->selects ? &v->selected : &v->scroll;

	*at += key == SCREEN_DOWN ? 1 : key == SCREEN_UP ? -1 :
	       key == SCREEN_PAGE_DOWN ? page : key == SCREEN_PAGE_UP ? -page : 0;
	v->shift += key == SCREEN_RIGHT && v->shift < MAX_SHIFT ? SHIFT : 0;
	v->shift -= key == SCREEN_LEFT && v->shift ? SHIFT : 0;
	if (key == SCREEN_HOME)
		v->scroll = v->selected = v->shift = 0;
}

bool top_view_keys(struct top_view *v)
{
	int key;

	while ((key = screen_key()) != SCREEN_NONE) {
		bool helped = v->helping && key != SCREEN_RESIZED;

		if (filter_key(v, key)) {
			v->draw(v->ctx);
			continue;
		}
		if (key == 'q' || key == SCREEN_QUIT)
			return false;
		v->helping = helped ? false : key == 'h' || key == '?' || key == SCREEN_HELP || v->helping;
		v->paused ^= key == ' ' || key == 'p';
		scroll_key(v, key);
		v->key(v->ctx, key);
		v->draw(v->ctx);
	}
	return true;
}
