/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Prints the calls of a function as text, with histograms, on standard output. */
#ifndef VIEW_CALL_VIEW_H
#define VIEW_CALL_VIEW_H

struct call_stats;

/* Prints a line, with the process if it has one, and the histogram of times. */
void call_stats_text(const struct call_stats *stats);

/* The same for bytes, if they are known. */
void call_stats_text_of_bytes(const struct call_stats *stats);

#endif
