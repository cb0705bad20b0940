/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The library in a program: what its two files tell each other.  It must not change what the program does: it prints nothing,
 * fails silently, and touches no CUPTI that another one uses. */
#ifndef AGENT_GPUTIME_GPUTIME_H
#define AGENT_GPUTIME_GPUTIME_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include "abi/agent_gputime.h"
#include "base/place.h"

struct cupti;

/* Per tool: what the library writes to its ring. */
struct gputime_ring {
	unsigned want;				/* enum gputime_want; 0: nothing */
	unsigned generation;
	uint64_t since;				/* when it began; what CUPTI still had then is of no use to it */
	uint64_t run_ns, of_ns;			/* as in struct gputime_tool */
	bool used;				/* it may have memory */
};

struct gputime {
	struct gputime_control *control;	/* shared: see abi/agent_gputime.h */
	struct gputime_record *slots;		/* shared: GPUTIME_SLOTS for each tool */
	struct gputime_ring rings[GPUTIME_TOOLS];
	struct cupti *cupti;			/* NULL: not looked for */
	unsigned want;				/* what is on now: enum gputime_want; 0: off */
	uint64_t retry;				/* when what was refused is tried again, ns; 0: never */
	bool whole;				/* it is on from the program's start, for the tool whose command it is */
	pid_t pid;				/* that has made the memory */
	int fd;					/* of the shared memory, to read … */
	struct stat made;			/* … and what it is, unless the program has closed it; fd is -1: there is none */
	uint64_t begun;				/* by GPUTIME_ON, ns; 0: not */
	int tool;				/* pid of the tool that has set it */
	bool finished;				/* the program ends: CUPTI is not called any more */
	pthread_mutex_t lock;			/* of all this but the rings, whose records CUPTI's threads put */
};

/* Notes where CUPTI may be.  Call when the library is loaded: later the program may have another
 * root directory, and another current one. */
void activity_note(void);

/* Has CUPTI measure what is wanted, which it finds at first; 0: switches it off, and has it deliver the rest.  Sets the control's
 * state, error and version. */
void activity_want(struct gputime *g, unsigned want);

/* Has CUPTI deliver what it has; all: also what is in use. */
void activity_flush(struct gputime *g, bool all);

/* Sets what is put into a tool's ring; another: it is another tool, whose records begin here, and which knows no names. */
void activity_serve(struct gputime *g, int tool, const struct gputime_ring *ring, bool another);

#endif
