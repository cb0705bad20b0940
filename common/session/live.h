/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The screen of a tool that can show its table live. */
#ifndef LIVE_H
#define LIVE_H
#include <stdbool.h>

struct event_loop;
struct target;

/* Before the loop: opens the screen if there is a terminal and neither batch nor JSON is wanted; returns
 * true if it did.  Output to a terminal without an interval is every second from here on.  The tool
 * closes the screen when the loop has ended. */
bool live_start(const struct target *t, struct event_loop *e, bool batch);

#endif
