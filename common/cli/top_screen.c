/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <curses.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "cli/top_screen.h"

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
	if (!terminal)	/* stdout is our own stream (sink.h) */
		terminal = fdopen(STDOUT_FILENO, "w");
	screen = terminal ? newterm(NULL, terminal, stdin) : NULL;
	if (!screen)
		return false;
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

int screen_key(void)
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
