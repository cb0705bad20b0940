/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Standard output, as text or as JSON lines, and what is written there: clock times, sizes, times. */
#ifndef OUT_H
#define OUT_H
#include <stdbool.h>

/* To be called once, before any output: JSON or text; from here a closed pipe is no error
 * but the end of output.  After any other write error the tool's status is 1. */
void out_init(bool json);

/* Rows are JSON from here, or text.  out_init() calls it; alone it is for those who print to a
 * stream of their own. */
void out_set_json(bool json);

/* To be called before that: what would go to standard output goes to a file, which it makes or
 * empties; standard output stays what it was for a command that is run. */
void out_to_file(const char *path);

bool out_is_json(void);

/* To be called after lines that are printed without out_row(). */
void out_line_end(void);

/* Hands over what was printed, without waiting until it is read; what is left is so at the tool's
 * end, which waits for it, but not beyond a signal.  Returns false once nobody can read it. */
bool out_flush(void);

/* Return true if so much has not been read yet that what can wait should not be printed now. */
bool out_is_held_up(void);

/* A time of CLOCK_MONOTONIC, as the probes have it, as one of CLOCK_REALTIME; both ns.  How far
 * they are apart is read once a second at most, as clocks are set. */
unsigned long long out_wall_ns(unsigned long long ns);

/* A wall clock time of day of now, "12:34:56"; static storage. */
const char *out_clock(void);

/* "1.5 GiB"; static storage, good until the fourth call from here. */
const char *out_bytes(unsigned long long bytes);

/* "1.5 s"; the same. */
const char *out_ns(unsigned long long ns);

#endif
