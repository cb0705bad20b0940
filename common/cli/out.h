/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Standard output: rows of fields that are declared once, as aligned text or as JSON lines. */
#ifndef OUT_H
#define OUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum field_type {
	OUT_END,	/* the last field */
	OUT_UINT,	/* unsigned long long; OUT_NONE prints as - and null */
	OUT_INT,	/* int */
	OUT_PTR,	/* unsigned long long: 0x…, in JSON a string; OUT_NONE as above */
	OUT_STR,	/* const char *, escaped; NULL prints as - and null */
	OUT_TIME,	/* unsigned long long, ns of CLOCK_MONOTONIC: HH:MM:SS.mmm of local time,
			 * in JSON seconds since the epoch */
	OUT_US,		/* unsigned long long, ns: text has microseconds, JSON ns; OUT_NONE as
			 * above */
	OUT_DIM,	/* unsigned[3]: 4x2x1, in JSON [4,2,1]; 0 at first prints as - and null */
	OUT_BOOL,	/* bool, JSON only */
	OUT_HIST,	/* const unsigned long long *: slots of hist.h, JSON only */
	OUT_REAL,	/* double, three digits after the point */
	OUT_STACK,	/* const struct stack *: lines below the row, in JSON an array */
	OUT_PRINT,	/* struct out_print: a function prints the value, as text or as JSON */
};
#define OUT_NONE (~0ull)

struct out_print {
	void (*print)(FILE *f, const void *of);
	const void *of;
};

struct field {
	const char *key;	/* in JSON; NULL = not there */
	const char *head;	/* of the text column; NULL = not there */
	int width;		/* of the text column; negative = left-aligned, as strings are to be */
	enum field_type type;
	size_t at;		/* offsetof the value in the row's struct */
};

/* To be called once, before any output: JSON or text; from here a closed pipe is no error
 * but the end of output.  After any other write error the tool's status is 1. */
void out_init(bool json);

/* To be called before that: what would go to standard output goes to a file, which it makes or
 * empties; standard output stays what it was for a command that is run. */
void out_to_file(const char *path);

bool out_is_json(void);

/* The line of column headings, in text only. */
void out_head(const struct field *fields);

/* One row. */
void out_row(const struct field *fields, const void *row);

/* The columns of either in text, without the end of the line and what stands below it. */
void out_text_head(FILE *file, const struct field *fields);
void out_text(FILE *file, const struct field *fields, const void *row);

/* To be called after lines that are printed without out_row(). */
void out_line_end(void);

/* Hands over what was printed, without waiting until it is read; what is left is so at the tool's
 * end, which waits for it, but not beyond a signal.  Returns false once nobody can read it. */
bool out_flush(void);

/* Has so much not been read yet that what can wait should not be printed now? */
bool out_is_held_up(void);

/* A wall clock time of day of now, "12:34:56"; static storage. */
const char *out_clock(void);

/* "1.5 GiB"; static storage, good until the fourth call from here. */
const char *out_bytes(unsigned long long bytes);

/* "1.5 s"; the same. */
const char *out_ns(unsigned long long ns);

#endif
