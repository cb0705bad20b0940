/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The screen of a tool with a live table.  Inline: only such a tool needs ncurses. */
#ifndef LIVE_H
#define LIVE_H
#include <unistd.h>
#include "cli/top_screen.h"
#include "session/event_loop.h"
#include "session/session.h"

/* Call before the loop: opens the screen if there is a terminal and neither batch mode nor JSON is
 * wanted; returns true if it did.  If output goes to a terminal and there is no interval, sets it
 * to one second.  The tool closes the screen after the loop. */
static inline bool live_start(struct session *t, struct event_loop *e, bool batch)
{
	if (!e->interval_ns && !t->json && isatty(STDOUT_FILENO))
		e->interval_ns = VALUE_S;
	t->live = !batch && !t->json && screen_open();
	return t->live;
}

#endif
