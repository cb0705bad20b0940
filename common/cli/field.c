/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdbool.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "base/escape.h"
#include "cli/field.h"
#include "cli/hist.h"
#include "cli/out.h"

enum { DIGITS = 32 };

/* Formats numbers.  Tools print a row for each call, which would take five times as long with
 * printf().  So each function writes a number's digits backwards from end, and returns where they
 * begin: at most DIGITS characters, with no '\0' after them. */

/* Zero-padded to at least least digits. */
static char *digits_decimal(char *end, unsigned long long n, int least)
{
	for (int i = 0; n || i < least; i++, n /= 10)
		*--end = '0' + n % 10;
	return end;
}

static char *digits_int(char *end, int n)
{
	char *s = digits_decimal(end, n < 0 ? -(unsigned long long)n : (unsigned long long)n, 1);

	if (n < 0)
		*--s = '-';
	return s;
}

/* An address: "0x7f00". */
static char *digits_pointer(char *end, unsigned long long n)
{
	do
		*--end = "0123456789abcdef"[n & 15];
	while (n >>= 4);
	*--end = 'x';
	*--end = '0';
	return end;
}

/* Nanoseconds as microseconds with one decimal: "12.3". */
static char *digits_us(char *end, unsigned long long ns)
{
	unsigned long long tenths = ns / 100 + (ns % 100 >= 50);

	*--end = '0' + tenths % 10;
	*--end = '.';
	return digits_decimal(end, tenths / 10, 1);
}

/* Three numbers separated by a character: "4x2x1". */
static char *digits_dim(char *end, const unsigned *dim, char between)
{
	for (int i = 2; i >= 0; i--) {
		end = digits_decimal(end, dim[i], 1);
		if (i)
			*--end = between;
	}
	return end;
}

typedef unsigned long long u64;

static void field_put(FILE *file, const char *s, size_t n)
{
	fwrite_unlocked(s, 1, n, file);
}

static void pad(FILE *file, int columns)
{
	while (columns-- > 0)
		putc_unlocked(' ', file);
}

/* Prints the text from s to end in the field's column; returns the columns taken. */
static int put_text(FILE *file, const struct field *f, const char *s, const char *end)
{
	int n = end - s, width = abs(f->width);

	pad(file, f->width - n);
	field_put(file, s, n);
	pad(file, -f->width - n);
	return n > width ? n : width;
}

static int put_none(FILE *file, const struct field *f)
{
	static const char none[] = { '-' };

	return put_text(file, f, none, none + sizeof(none));
}

/* Prints the text from s to end between two characters. */
static void put_between(char open, const char *s, const char *end, char close)
{
	putc_unlocked(open, stdout);
	field_put(stdout, s, end - s);
	putc_unlocked(close, stdout);
}

static void put_null(void)
{
	field_put(stdout, "null", 4);
}

/* ---- numbers */

static int uint_text(FILE *file, const struct field *f, const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS;
	u64 n = *(const u64 *)at;

	if (n == OUT_NONE)
		return put_none(file, f);
	return put_text(file, f, digits_decimal(end, n, 1), end);
}

static void uint_json(const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS, *s;
	u64 n = *(const u64 *)at;

	if (n == OUT_NONE) {
		put_null();
		return;
	}
	s = digits_decimal(end, n, 1);
	field_put(stdout, s, end - s);
}

static int int_text(FILE *file, const struct field *f, const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS;

	return put_text(file, f, digits_int(end, *(const int *)at), end);
}

static void int_json(const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS, *s = digits_int(end, *(const int *)at);

	field_put(stdout, s, end - s);
}

static int ptr_text(FILE *file, const struct field *f, const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS;
	u64 n = *(const u64 *)at;

	if (n == OUT_NONE)
		return put_none(file, f);
	return put_text(file, f, digits_pointer(end, n), end);
}

static void ptr_json(const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS;
	u64 n = *(const u64 *)at;

	if (n == OUT_NONE)
		put_null();
	else
		put_between('"', digits_pointer(end, n), end, '"');
}

/* Prints the text from s to end or, if it is wider than the column, the scaled one. */
static int fitting(FILE *file, const struct field *f, const char *s, const char *end, const char *scaled)
{
	if (end - s <= abs(f->width))
		return put_text(file, f, s, end);
	return put_text(file, f, scaled, scaled + strlen(scaled));
}

static int size_text(FILE *file, const struct field *f, const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS;
	u64 n = *(const u64 *)at;

	if (n == OUT_NONE)
		return put_none(file, f);
	return fitting(file, f, digits_decimal(end, n, 1), end, out_bytes(n));
}

static int us_text(FILE *file, const struct field *f, const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS;
	u64 ns = *(const u64 *)at;

	if (ns == OUT_NONE)
		return put_none(file, f);
	return fitting(file, f, digits_us(end, ns), end, out_ns(ns));
}

static int dim_text(FILE *file, const struct field *f, const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS;

	if (!*(const unsigned *)at)
		return put_none(file, f);
	return put_text(file, f, digits_dim(end, at, 'x'), end);
}

static void dim_json(const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS;

	if (!*(const unsigned *)at)
		put_null();
	else
		put_between('[', digits_dim(end, at, ','), end, ']');
}

static int real_text(FILE *file, const struct field *f, const void *at)
{
	return fprintf(file, "%*.3f", f->width, *(const double *)at);
}

static void real_json(const void *at)
{
	const double value = *(const double *)at;

	if (isnan(value))
		fputs("null", stdout);
	else
		printf("%.3f", value);
}

/* ---- times */

enum { NS_PER_S = 1000000000, MICROSECONDS = sizeof("HH:MM:SS.mmmmmm") - 1 };

static int time_text(FILE *file, const struct field *f, const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS, *s;
	u64 ns = out_wall_ns(*(const u64 *)at);
	time_t seconds = ns / NS_PER_S;
	struct tm *tm = localtime(&seconds);

	if (abs(f->width) >= MICROSECONDS)
		s = digits_decimal(end, ns % NS_PER_S / 1000, 6);
	else
		s = digits_decimal(end, ns % NS_PER_S / 1000000, 3);
	*--s = '.';
	s = digits_decimal(s, tm->tm_sec, 2);
	*--s = ':';
	s = digits_decimal(s, tm->tm_min, 2);
	*--s = ':';
	return put_text(file, f, digits_decimal(s, tm->tm_hour, 2), end);
}

static void time_json(const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS, *s;
	u64 ns = out_wall_ns(*(const u64 *)at);

	s = digits_decimal(end, ns % NS_PER_S / 1000, 6);
	*--s = '.';
	s = digits_decimal(s, ns / NS_PER_S, 1);
	field_put(stdout, s, end - s);
}

/* ---- other types */

static int str_text(FILE *file, const struct field *f, const void *at)
{
	const char *s = *(const char *const *)at;
	int n;

	if (!s)
		return put_none(file, f);
	if (f->width > 0)
		pad(file, f->width - (int)strlen(s));
	n = escape_text(file, s);
	pad(file, -f->width - n);
	return n > abs(f->width) ? n : abs(f->width);
}

static void str_json(const void *at)
{
	const char *s = *(const char *const *)at;

	if (s)
		escape_json(stdout, s);
	else
		put_null();
}

static int chars_text(FILE *file, const struct field *f, const void *at)
{
	const char *s = at;

	return *s ? str_text(file, f, &s) : put_none(file, f);
}

static void chars_json(const void *at)
{
	const char *s = at;

	str_json(*s ? &s : &(const char *){ NULL });
}

static void bool_json(const void *at)
{
	fputs(*(const bool *)at ? "true" : "false", stdout);
}

static void hist_field_json(const void *at)
{
	hist_json(*(const struct hist *const *)at);
}

static void rows_field_json(const void *at)
{
	hist_rows_json(*(const u64 *const *)at);
}

static int print_text(FILE *file, const struct field *f, const void *at)
{
	const struct out_print *p = at;

	(void)f;
	p->print(file, p->of);
	return 0;
}

static void print_json(const void *at)
{
	print_text(stdout, NULL, at);
}

const struct field_type field_uint = { uint_text, NULL, uint_json };
const struct field_type field_size = { size_text, NULL, uint_json };
const struct field_type field_int = { int_text, NULL, int_json };
const struct field_type field_ptr = { ptr_text, NULL, ptr_json };
const struct field_type field_str = { str_text, NULL, str_json };
const struct field_type field_chars = { chars_text, NULL, chars_json };
const struct field_type field_time = { time_text, NULL, time_json };
const struct field_type field_us = { us_text, NULL, uint_json };
const struct field_type field_dim = { dim_text, NULL, dim_json };
const struct field_type field_bool = { NULL, NULL, bool_json };
const struct field_type field_hist = { NULL, NULL, hist_field_json };
const struct field_type field_rows = { NULL, NULL, rows_field_json };
const struct field_type field_real = { real_text, NULL, real_json };
const struct field_type field_print = { print_text, NULL, print_json };
