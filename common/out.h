/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Standard output: rows of fields that are declared once, as aligned text or as JSON lines. */
#ifndef OUT_H
#define OUT_H
#include <stdbool.h>
#include <stddef.h>

enum field_type {
	OUT_END,	/* the last field */
	OUT_UINT,	/* unsigned long long; OUT_NONE prints as - and null */
	OUT_INT,	/* int */
	OUT_PTR,	/* unsigned long long: 0x…, in JSON a string; OUT_NONE as above */
	OUT_STR,	/* const char *, escaped; NULL prints as - and null */
	OUT_TIME,	/* unsigned long long, ns of CLOCK_MONOTONIC: HH:MM:SS.mmm of local time,
			 * in JSON seconds since the epoch */
	OUT_US,		/* unsigned long long, ns: text has microseconds, JSON ns */
	OUT_DIM,	/* unsigned[3]: 4x2x1, in JSON [4,2,1]; 0 at first prints as - and null */
	OUT_BOOL,	/* bool, JSON only */
	OUT_HIST,	/* const unsigned long long *: slots of hist.h, JSON only */
	OUT_REAL,	/* double, three digits after the point */
	OUT_STACK,	/* const struct stack *: lines below the row, in JSON an array */
};
#define OUT_NONE (~0ull)

struct field {
	const char *key;	/* in JSON; NULL = not there */
	const char *head;	/* of the text column; NULL = not there */
	int width;		/* of the text column; negative = left-aligned */
	enum field_type type;
	size_t at;		/* offsetof the value in the row's struct */
};

/* To be called once, before any output: JSON or text; from here a closed pipe is no error
 * but the end of output.  After any other write error the tool's status is 1. */
void out_init(bool json);
bool out_is_json(void);

/* The line of column headings, in text only. */
void out_head(const struct field *fields);

/* One row. */
void out_row(const struct field *fields, const void *row);

/* To be called after lines that are printed without out_row(). */
void out_line_end(void);

/* Hands over what was printed; returns false once nobody reads it any more. */
bool out_flush(void);

/* A wall clock time of day of now, "12:34:56"; static storage. */
const char *out_clock(void);

/* "1.5 GiB"; static storage, good until the fourth call from here. */
const char *out_bytes(unsigned long long bytes);

/* "1.5 s"; the same. */
const char *out_ns(unsigned long long ns);

#endif
