/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include <time.h>
#include "base/escape.h"
#include "cli/hist.h"
#include "cli/out_value.h"
#include "sym/syms.h"

typedef unsigned long long u64;

enum { NS_PER_S = 1000000000, DIGITS = 32 /* room for a number with what stands around it */ };

/* A row is printed for each call: printf() would take five times as long for the whole of it.
 * So numbers are written from their end. */
static char *decimal(char *end, u64 n, int least)
{
	for (int i = 0; n || i < least; i++, n /= 10)
		*--end = '0' + n % 10;
	return end;
}

static char *integer(char *end, int n)
{
	char *s = decimal(end, n < 0 ? -(u64)n : (u64)n, 1);

	if (n < 0)
		*--s = '-';
	return s;
}

static char *pointer(char *end, u64 n)
{
	do
		*--end = "0123456789abcdef"[n & 15];
	while (n >>= 4);
	*--end = 'x';
	*--end = '0';
	return end;
}

/* Microseconds with a tenth. */
static char *microseconds(char *end, u64 ns)
{
	u64 tenths = ns / 100 + (ns % 100 >= 50);

	*--end = '0' + tenths % 10;
	*--end = '.';
	return decimal(end, tenths / 10, 1);
}

static char *dimensions(char *end, const unsigned *dim, char between)
{
	for (int i = 2; i >= 0; i--) {
		end = decimal(end, dim[i], 1);
		if (i)
			*--end = between;
	}
	return end;
}

/* CLOCK_MONOTONIC, as the probes have it, to CLOCK_REALTIME; how far they are apart is read_at up
 * once a second, as clocks are set. */
static u64 wall(u64 ns)
{
	static u64 offset, read_at;
	struct timespec mono, real;

	if (!read_at || ns - read_at >= NS_PER_S) {
		clock_gettime(CLOCK_MONOTONIC, &mono);
		clock_gettime(CLOCK_REALTIME, &real);
		offset = (real.tv_sec - mono.tv_sec) * (u64)NS_PER_S + (real.tv_nsec - mono.tv_nsec);
		read_at = ns;
	}
	return ns + offset;
}

static char *time_of_day(char *end, u64 ns)
{
	u64 at = wall(ns);
	time_t seconds = at / NS_PER_S;
	struct tm *tm = localtime(&seconds);

	end = decimal(end, at % NS_PER_S / 1000000, 3);
	*--end = '.';
	end = decimal(end, tm->tm_sec, 2);
	*--end = ':';
	end = decimal(end, tm->tm_min, 2);
	*--end = ':';
	return decimal(end, tm->tm_hour, 2);
}

static char *since_epoch(char *end, u64 ns)
{
	u64 at = wall(ns);

	end = decimal(end, at % NS_PER_S / 1000, 6);
	*--end = '.';
	return decimal(end, at / NS_PER_S, 1);
}

static void put(FILE *file, const char *s, size_t n)
{
	fwrite_unlocked(s, 1, n, file);
}

static void pad(FILE *file, int columns)
{
	while (columns-- > 0)
		putc_unlocked(' ', file);
}

/* A number's text, which ends at end, in its column. */
static void put_text(FILE *file, int width, const char *s, const char *end)
{
	int n = end - s;

	pad(file, width - n);
	put(file, s, n);
	pad(file, -width - n);
}

static bool is_none(const struct field *f, const void *at)
{
	switch (f->type) {
	case OUT_UINT:
	case OUT_PTR:
	case OUT_US:
		return *(const u64 *)at == OUT_NONE;
	case OUT_STR:
		return !*(const char *const *)at;
	case OUT_DIM:
		return !*(const unsigned *)at;
	default:
		return false;
	}
}

void out_value_text(FILE *file, const struct field *f, const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS, *s = end;
	int columns;

	switch (is_none(f, at) ? OUT_END : f->type) {
	case OUT_END:
		*--s = '-';
		break;
	case OUT_UINT:
		s = decimal(end, *(const u64 *)at, 1);
		break;
	case OUT_INT:
		s = integer(end, *(const int *)at);
		break;
	case OUT_PTR:
		s = pointer(end, *(const u64 *)at);
		break;
	case OUT_TIME:
		s = time_of_day(end, *(const u64 *)at);
		break;
	case OUT_US:
		s = microseconds(end, *(const u64 *)at);
		break;
	case OUT_DIM:
		s = dimensions(end, at, 'x');
		break;
	case OUT_REAL:
		fprintf(file, "%*.3f", f->width, *(const double *)at);
		return;
	case OUT_STR:
		columns = escape_text(file, *(const char *const *)at);
		pad(file, -f->width - columns);
		return;
	case OUT_PRINT:
		((const struct out_print *)at)->print(file, ((const struct out_print *)at)->of);
		return;
	case OUT_BOOL:
	case OUT_HIST:
	case OUT_STACK:
		return;
	}
	put_text(file, f->width, s, end);
}

/* A number's text, which ends at end, between two characters, if they are any. */
static void put_json(char open, char *s, const char *end, char close)
{
	if (open)
		putc_unlocked(open, stdout);
	put(stdout, s, end - s);
	if (close)
		putc_unlocked(close, stdout);
}

void out_value_json(const struct field *f, const void *at)
{
	char buf[DIGITS], *end = buf + DIGITS;

	if (is_none(f, at)) {
		put(stdout, "null", 4);
		return;
	}
	switch (f->type) {
	case OUT_END:
		return;
	case OUT_UINT:
	case OUT_US:
		put_json(0, decimal(end, *(const u64 *)at, 1), end, 0);
		return;
	case OUT_INT:
		put_json(0, integer(end, *(const int *)at), end, 0);
		return;
	case OUT_PTR:
		put_json('"', pointer(end, *(const u64 *)at), end, '"');
		return;
	case OUT_TIME:
		put_json(0, since_epoch(end, *(const u64 *)at), end, 0);
		return;
	case OUT_DIM:
		put_json('[', dimensions(end, at, ','), end, ']');
		return;
	case OUT_STR:
		escape_json(stdout, *(const char *const *)at);
		return;
	case OUT_BOOL:
		fputs(*(const bool *)at ? "true" : "false", stdout);
		return;
	case OUT_HIST:
		hist_json(*(const u64 *const *)at);
		return;
	case OUT_REAL:
		printf("%.3f", *(const double *)at);
		return;
	case OUT_STACK:
		stack_json(*(const struct stack *const *)at);
		return;
	case OUT_PRINT:
		((const struct out_print *)at)->print(stdout, ((const struct out_print *)at)->of);
		return;
	}
}
