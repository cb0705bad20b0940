/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a row consists of: each field is declared once, as a text column and as a JSON key. */
#ifndef FIELD_H
#define FIELD_H
#include <stddef.h>
#include <stdio.h>
#include "base/no_value.h"

/* In a field of unsigned long long: prints as - and null. */
#define OUT_NONE NO_VALUE

struct field_type;

struct field {
	const char *key;	/* in JSON; NULL = not there */
	const char *head;	/* of the text column; NULL = not there */
	int width;		/* of the text column; negative = left-aligned, as strings are to be */
	const struct field_type *type;
	size_t at;		/* offsetof the value in the row's struct */
};

/* How the values of a type are printed.  at: where the row has the value. */
struct field_type {
	/* In the field's column, as wide as that at least; NULL: the type has no column. */
	void (*text)(FILE *file, const struct field *field, const void *at);
	/* To standard output, in text, lines below the row; NULL: there are none. */
	void (*text_below)(const void *at);
	/* To standard output. */
	void (*json)(const void *at);
};

extern const struct field_type field_uint, field_int, field_ptr, field_str, field_time, field_us,
	field_dim, field_bool, field_hist, field_real, field_print;

#define OUT_END   NULL		/* the last field */
#define OUT_UINT  (&field_uint)	/* unsigned long long */
#define OUT_INT   (&field_int)	/* int */
#define OUT_PTR   (&field_ptr)	/* unsigned long long: 0x…, in JSON a string */
#define OUT_STR   (&field_str)	/* const char *, escaped; NULL prints as - and null */
#define OUT_TIME  (&field_time)	/* unsigned long long, ns of CLOCK_MONOTONIC: HH:MM:SS.mmm of local
				 * time, in JSON seconds since the epoch */
#define OUT_US    (&field_us)	/* unsigned long long, ns: text has microseconds, JSON ns */
#define OUT_DIM   (&field_dim)	/* unsigned[3]: 4x2x1, in JSON [4,2,1]; 0 at first prints as - and
				 * null */
#define OUT_BOOL  (&field_bool)	/* bool, JSON only */
#define OUT_HIST  (&field_hist)	/* const unsigned long long *: slots of hist.h, JSON only */
#define OUT_REAL  (&field_real)	/* double, three digits after the point */
#define OUT_PRINT (&field_print)	/* struct out_print: a function prints the value, as text
					 * or as JSON */

struct out_print {
	void (*print)(FILE *f, const void *of);
	const void *of;
};

#endif
