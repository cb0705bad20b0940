/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The fields of a row: each is declared once, as a text column and as a JSON key.  The comment beside
 * a key documents it: see scripts/gen_json.awk. */
#ifndef CLI_FIELD_H
#define CLI_FIELD_H
#include <stddef.h>
#include <stdio.h>
#include "base/util.h"

/* In an unsigned long long field: prints as - and null. */
#define OUT_NONE NO_VALUE

struct field {
	const char *key;	/* in JSON; NULL = not in JSON */
	const char *head;	/* of the text column; NULL = no column */
	int width;		/* of the text column; negative = left-aligned, for strings but numbers as text */
	const struct field_type *type;
	size_t at;		/* offsetof the value in the row's struct */
};

/* How to print values of a type.  at points to the value in the row. */
struct field_type {
	/* Prints in the field's column, padded to at least its width; returns how many columns that took,
	 * 0 if they are not known.  NULL: the type has no column. */
	int (*text)(FILE *file, const struct field *field, const void *at);
	/* Prints text lines below the row to standard output; NULL: there are none. */
	void (*text_below)(const void *at);
	/* Prints to standard output. */
	void (*json)(const void *at);
};

extern const struct field_type field_uint, field_size, field_int, field_ptr, field_str, field_chars, field_time, field_us,
	field_dim, field_bool, field_hist, field_rows, field_real, field_print;

#define OUT_END   NULL		/* the last field */
#define OUT_UINT  (&field_uint)	/* unsigned long long */
#define OUT_SIZE  (&field_size)	/* unsigned long long, bytes; in text scaled if the column is too narrow */
#define OUT_INT   (&field_int)	/* int */
#define OUT_PTR   (&field_ptr)	/* unsigned long long: 0x…, a string in JSON */
#define OUT_STR   (&field_str)	/* const char *, escaped; NULL prints as - and null */
#define OUT_CHARS (&field_chars)	/* char[], escaped; "" prints as - and null */
#define OUT_TIME  (&field_time)	/* unsigned long long, ns of CLOCK_MONOTONIC: HH:MM:SS.mmm in local
				 * time, .mmmmmm if the column is wide enough, seconds since the epoch in JSON */
#define OUT_US    (&field_us)	/* unsigned long long, ns: microseconds in text, scaled if the column
				 * is too narrow; ns in JSON */
#define OUT_DIM   (&field_dim)	/* unsigned[3]: 4x2x1, in JSON [4,2,1]; prints as - and null if the
				 * first is 0 */
#define OUT_BOOL  (&field_bool)	/* bool, JSON only */
#define OUT_HIST  (&field_hist)	/* const struct hist *: JSON only, in powers of two */
#define OUT_ROWS  (&field_rows)	/* const unsigned long long *: HIST_ROWS rows (base/log2_hist.h), JSON only */
#define OUT_REAL  (&field_real)	/* double, three decimals; NAN is null in JSON */
#define OUT_PRINT (&field_print)	/* struct out_print: a function prints the value, as text
					 * or JSON */

/* Defines a type of field that has the same word in each row, in JSON only: for the key "type", which distinguishes rows
 * of different kinds apart. */
#define OUT_WORD(name, word)							\
	static void name##_json(const void *at)					\
	{									\
		(void)at;							\
		fputs("\"" word "\"", stdout);				\
	}									\
	static const struct field_type name = { NULL, NULL, name##_json }

struct out_print {
	void (*print)(FILE *f, const void *of);
	const void *of;
};

#endif
