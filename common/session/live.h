/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The screen of a tool with a live table. */
#ifndef LIVE_H
#define LIVE_H
#include <stdbool.h>

struct event_loop;
struct session;

/* Call before the loop: opens the screen if there is a terminal and neither batch mode nor JSON is
 * wanted; returns true if it did.  If output goes to a terminal and there is no interval, sets it
 * to one second.  The tool closes the screen after the loop. */
bool live_start(struct session *t, struct event_loop *e, bool batch);

#endif
