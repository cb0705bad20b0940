/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The screen of a tool with a live table.  Inline: only such a tool needs ncurses. */
#ifndef SESSION_LIVE_H
#define SESSION_LIVE_H
#include <unistd.h>
#include "cli/top_screen.h"
#include "session/event_loop.h"
#include "session/session.h"

/* Return true if live_start() will open the screen, unless curses does not know the terminal. */
static inline bool live_is_wanted(const struct session *t, bool batch)
{
	return !batch && !t->json && isatty(STDIN_FILENO) && isatty(STDOUT_FILENO);
}

/* Call before the loop: opens the screen if there is a terminal and neither batch mode nor JSON is
 * wanted; returns true if it did.  If output goes to a terminal and there is no interval, sets it
 * to one second.  The tool closes the screen after the loop. */
static inline bool live_start(struct session *t, struct event_loop *e, bool batch)
{
	if (!e->interval_ns && !t->json && isatty(STDOUT_FILENO))
		e->interval_ns = VALUE_S;
	t->live = live_is_wanted(t, batch) && screen_open();
	return t->live;
}

/* A table that each interval makes anew. */
struct live_table {
	struct top_view *screen;
	void *ctx;			/* passed to the functions */
	void (*gather)(void *ctx, bool whole);	/* ends the interval: sets its rows or, if whole, those since tracing began */
	void (*print)(void *ctx);	/* the rows, as text or JSON */
	void (*next)(void *ctx);	/* the next interval begins */
};

/* For event_loop.report, unless the screen is paused. */
static inline void live_report(const struct live_table *l)
{
	if (screen_is_open() && l->screen->paused)
		return;
	l->gather(l->ctx, false);
	if (screen_is_open())
		l->screen->draw(l->screen->ctx);
	else
		l->print(l->ctx);
	l->next(l->ctx);
}

/* For event_loop.tick: false if the user quits. */
static inline bool live_tick(struct top_view *screen)
{
	return !screen_is_open() || top_view_keys(screen);
}

/* Call after the loop: closes the screen or, if there was none, prints what the last report has not. */
static inline void live_stop(const struct live_table *l, const struct session *t, const struct event_loop *e)
{
	screen_close();
	if (t->live || e->counted_out)
		return;
	l->gather(l->ctx, !e->interval_ns);
	l->print(l->ctx);
}

#endif
