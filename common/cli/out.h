/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Standard output, as text or JSON lines, and the form of clock times, sizes and durations in text: sizes in powers of
 * 1024 (KiB, MiB), also growth per second (KiB/s); bandwidths in powers of 1000 (GB/s), as in NVIDIA's data sheets; times
 * in the largest unit that leaves 1 or more.  A value that is too wide for its column is scaled. */
#ifndef CLI_OUT_H
#define CLI_OUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Call once, before any output: chooses JSON or text.  From then on a closed pipe is not an error
 * but ends the output.  After any other write error the tool exits 1. */
void out_init(bool json);

/* Switches rows to JSON or text.  out_init() calls it; call it alone only when printing to another
 * stream. */
void out_set_json(bool json);

/* Call before out_init(): redirects output to a file (out_file.h).  Standard output stays
 * unchanged for the command that the tool runs. */
void out_to_file(const char *path);

/* Return true if the output goes to the regular file of this name. */
bool out_is_file(const char *path);

bool out_is_json(void);

/* Return true if the output goes to a terminal. */
bool out_is_terminal(void);

/* Call after lines printed without out_row(). */
void out_line_end(void);

/* Flushes what was printed, without waiting for the reader.  The tool's exit flushes the rest, and
 * waits until it is read or a signal arrives.  Return false once the output has no reader. */
bool out_flush(void);

/* Return true if so much output is unread that the tool should defer whatever can wait. */
bool out_is_held_up(void);

/* Converts CLOCK_MONOTONIC, as the probes report it, to CLOCK_REALTIME; both ns.  Reads the
 * offset at most once a second, as clocks get set. */
unsigned long long out_wall_ns(unsigned long long ns);

/* Returns the local time of day, "12:34:56"; static storage. */
const char *out_clock(void);

/* Formats a size, "1.5 GiB"; static storage, valid until the eighth call from this one. */
const char *out_bytes(unsigned long long bytes);

/* Formats by how much a size changed, "+1.5 GiB", "-3 bytes", "0 bytes"; the same storage. */
const char *out_change(double bytes);

/* Formats a duration, "1.5 s"; the same storage. */
const char *out_ns(unsigned long long ns);

/* Formats a number of a unit, or "-" if it is NO_VALUE; the same storage.  Bytes per second: "2.1 GB/s";
 * cycles as they are, or in powers of 1000 if they are a million or more: "1.2 G". */
enum out_unit { OUT_UNIT_NS, OUT_UNIT_BYTES, OUT_UNIT_BYTES_PER_S, OUT_UNIT_CYCLES, OUT_UNIT_NONE };
const char *out_amount(unsigned long long n, enum out_unit unit);

/* The same of a percentile, "~2.1 GB/s" if it is an estimate (base/log2_hist.h). */
const char *out_percentile(unsigned long long n, bool about, enum out_unit unit);

#endif
