/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The library in a program: what its two files tell each other.  It must not change what the program does: it prints nothing,
 * fails silently, and touches no CUPTI that another one uses. */
#ifndef GPUTIME_LIBRARY_H
#define GPUTIME_LIBRARY_H
#include <stdbool.h>
#include <stdint.h>
#include "abi/gputime.h"

struct cupti;

struct gputime {
	struct gputime_control *control;	/* shared: see abi/gputime.h */
	struct gputime_record *slots;		/* shared: GPUTIME_SLOTS */
	struct cupti *cupti;			/* NULL: not looked for */
	unsigned want;				/* what is on now: enum gputime_want; 0: off */
	unsigned tools;				/* that have asked, up to the one that was told names */
	uint64_t retry;				/* when what was refused is tried again, ns; 0: never */
	bool whole;				/* it is on from the program's start, for the tool whose command it is */
};

/* Returns CLOCK_MONOTONIC, ns. */
uint64_t gputime_now(void);

/* Finds CUPTI, if that was not done, and switches it on.  Sets the control's state, error and version. */
void activity_start(struct gputime *g, unsigned want);

/* Has CUPTI deliver what it has; all: also what is in use. */
void activity_flush(struct gputime *g, bool all);

/* Another tool is to be told them. */
void activity_forget_names(struct gputime *g);

/* Switches it off, and has it deliver the rest. */
void activity_stop(struct gputime *g);

#endif
