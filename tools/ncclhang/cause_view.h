/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints a hang: its cause, and then the communicators that wait for it. */
#ifndef NCCLHANG_CAUSE_VIEW_H
#define NCCLHANG_CAUSE_VIEW_H
#include <stdbool.h>
#include <stddef.h>

struct cause;
struct hang;
struct hangs;
struct process_table;

struct cause_printer {
	struct process_table *processes;
	unsigned long long now;		/* ns; of the report */
	bool ranks;			/* what each rank does, of more than one communicator, too */
	bool clock;			/* the report begins with the time */
	/* Called after each communicator; in JSON instead of hang_print_rows(); or NULL. */
	void (*after)(void *ctx, const struct hang *h), (*rows)(void *ctx, const struct hang *h);
	void *ctx;
};

/* number: of the hang in this report, from 1 on. */
void cause_print(const struct cause_printer *p, const struct cause *c, size_t number);

/* Prints all hangs, and then the communicators that do not hang. */
void causes_print(const struct cause_printer *p, const struct hangs *h);

#endif
