/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Memory held, on the terminal's screen. */
#ifndef CUDALEAK_LEAK_SCREEN_H
#define CUDALEAK_LEAK_SCREEN_H
#include "cli/top_screen.h"
#include "cudaleak/leak_view.h"

struct leak_screen {
	/* set by the tool */
	struct leak_view *view;
	struct memory *memory;
	long rows;		/* at most this many; 0 = all */
	bool preexisting;	/* a process may hold memory from before tracing began */
	struct top_view top;	/* the tool sets who */
	/* state */
	struct leak_options options;	/* of the groups shown */
	enum mem_snapshot next;	/* that growth will be shown since */
	struct leak_group *groups;	/* being drawn */
	bool narrow;		/* fewer and narrower columns */
	bool containers;	/* a process is in one: a column, in a narrow table only of processes */
	/* reports of processes that exited while the screen was open */
	FILE *exits;
	char *exits_text;
	size_t exits_size, exits_dropped;
};

/* Sets top, except who. */
void leak_screen_init(struct leak_screen *s);

/* Draws the memory held now, unless the screen is paused.  Growth is counted from here. */
void leak_screen_update(struct leak_screen *s);

/* Keeps the report of a process that exited until the screen is closed. */
void leak_screen_exit(struct leak_screen *s, const struct mem_process *process);

/* Prints those reports, once the screen is closed. */
void leak_screen_end(struct leak_screen *s);

#endif
