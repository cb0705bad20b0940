/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A timeline that Perfetto and chrome://tracing open: the Trace Event Format, a JSON array of events,
 * https://chromium.googlesource.com/catapult, docs/trace-event-format */
#ifndef VIEW_CHROME_H
#define VIEW_CHROME_H
#include <stdbool.h>
#include <stdio.h>

struct mem_process;

struct chrome {
	FILE *file;		/* NULL: not open */
	const char *path;
	bool begun;		/* an event was written */
	unsigned long long arrows;	/* drawn so far: the id of the last */
};

/* Opens the file (cli/out_file.h) for *c, which must be all zero; exits 1 if it cannot. */
void chrome_open(struct chrome *c, const char *path);

/* Begins an event, up to its "{"; the caller writes its members and the "}" to c->file. */
void chrome_event(struct chrome *c);

/* Writes ,"KEY":TIME in microseconds. */
void chrome_us(struct chrome *c, const char *key, unsigned long long ns);

/* Names a process (tid 0) or a thread; untrusted text. */
void chrome_name(struct chrome *c, int pid, int tid, const char *name);

/* Draws an arrow between two slices of a process that were written last, each on the track of its tid:
 * a time within each (CLOCK_MONOTONIC, ns). */
void chrome_arrow(struct chrome *c, int pid, int from, unsigned long long from_time, int to,
		  unsigned long long to_time);

/* Draws what the process holds from this time on (CLOCK_MONOTONIC, ns), if that has changed since the
 * last call: a counter of all bytes, and one for each kind of memory it has held.  Each byte counts
 * for scale of them. */
void chrome_held(struct chrome *c, struct mem_process *process, unsigned long long time,
		 unsigned long scale);

/* Draws that a process that ended holds nothing. */
void chrome_held_end(struct chrome *c, const struct mem_process *process, unsigned long long time);

/* Ends the array and closes the file.  On a write error warns and returns false. */
bool chrome_close(struct chrome *c);

#endif
