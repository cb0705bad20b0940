/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <unistd.h>
#include "cli/top_screen.h"
#include "session/event_loop.h"
#include "session/live.h"
#include "session/session.h"

bool live_start(struct session *t, struct event_loop *e, bool batch)
{
	if (!e->interval_ns && !t->json && isatty(STDOUT_FILENO))
		e->interval_ns = VALUE_S;
	t->live = !batch && !t->json && screen_open();
	return t->live;
}
