/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What is held, on the terminal's screen. */
#ifndef LEAK_SCREEN_H
#define LEAK_SCREEN_H
#include "cli/top_screen.h"
#include "cudaleak/leak_line.h"
#include "cudaleak/leak_row.h"

struct leak_screen {
	/* set by the tool */
	struct leak_view *view;
	struct memory *memory;
	long rows;		/* at most this many; 0 = all */
	bool preexisting;		/* a process may hold memory from before tracing began */
	struct top_view top;	/* the tool sets who */
	/* state */
	struct leak_options options;	/* of the groups shown */
	enum mem_snapshot next;	/* that growth will be shown since */
	struct leak_group *groups;	/* being drawn */
	struct leak_columns columns;
	/* reports of processes that exited while the screen was open */
	FILE *exits;
	char *exits_text;
	size_t exits_size, exits_left_out;
};

/* Sets top, except who. */
void leak_screen_init(struct leak_screen *s);

/* Draws what is held now, unless the screen is paused.  Growth is counted from here. */
void leak_screen_update(struct leak_screen *s);

/* Keeps the report of a process that exited until the screen is closed. */
void leak_screen_exit(struct leak_screen *s, const struct mem_process *process);

/* Prints those reports, once the screen is closed. */
void leak_screen_end(struct leak_screen *s);

#endif
