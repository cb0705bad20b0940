/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include "die.h"
#include "escape.h"
#include "hist.h"
#include "out.h"
#include "syms.h"

/* The buffer is handed over when half full, at a line's end, so that lines stay whole in a
 * pipe that others write to. */
enum { NS_PER_S = 1000000000, BUFFER = 256 * 1024 };

static bool json, closed, failed;
static const char *where = "standard output";

/* What could not be written is a failure, whatever status the command of -c has. */
static void at_exit(void)
{
	out_flush();
	if (failed)
		_exit(EXIT_FAILURE);
}

void out_init(bool j)
{
	json = j;
	signal(SIGPIPE, SIG_IGN);
	/* whole batches: the loop flushes after each */
	setvbuf(stdout, NULL, _IOFBF, BUFFER);
	atexit(at_exit);
}

bool out_is_json(void)
{
	return json;
}

bool out_flush(void)
{
	if (closed || (!fflush(stdout) && !ferror(stdout)))
		return !closed;
	closed = true;
	failed = errno != EPIPE;
	if (failed)
		warning(errno, "cannot write to %s", where);
	return false;
}

void out_to_file(const char *path)
{
	FILE *f = fopen(path, "we");

	if (!f)
		die(errno, "cannot open %s", path);
	where = path;
	stdout = f;	/* glibc's is a variable */
}

/* CLOCK_MONOTONIC, as the probes have it, to CLOCK_REALTIME */
static struct timespec wall(unsigned long long ns)
{
	struct timespec mono, real;

	clock_gettime(CLOCK_MONOTONIC, &mono);
	clock_gettime(CLOCK_REALTIME, &real);
	ns += (real.tv_sec - mono.tv_sec) * (unsigned long long)NS_PER_S +
	      (real.tv_nsec - mono.tv_nsec);
	return (struct timespec){ ns / NS_PER_S, ns % NS_PER_S };
}

static void print_value(FILE *file, const struct out_print *p)
{
	p->print(file, p->of);
}

static void text_value(FILE *file, const struct field *f, const void *at)
{
	unsigned long long n = f->type == OUT_INT || f->type == OUT_STR || f->type == OUT_REAL ||
			       f->type == OUT_DIM || f->type == OUT_PRINT ? 0 :
			       *(const unsigned long long *)at;
	const unsigned *dim;
	const char *s = NULL;
	char buf[64] = "-";
	struct timespec ts;
	int columns;

	switch (f->type) {
	case OUT_UINT:
		if (n != OUT_NONE)
			snprintf(buf, sizeof(buf), "%llu", n);
		break;
	case OUT_INT:
		snprintf(buf, sizeof(buf), "%d", *(const int *)at);
		break;
	case OUT_PTR:
		if (n != OUT_NONE)
			snprintf(buf, sizeof(buf), "0x%llx", n);
		break;
	case OUT_TIME:
		ts = wall(n);
		strftime(buf, sizeof(buf), "%H:%M:%S", localtime(&ts.tv_sec));
		snprintf(buf + 8, sizeof(buf) - 8, ".%03ld", ts.tv_nsec / 1000000);
		break;
	case OUT_US:
		if (n != OUT_NONE)
			snprintf(buf, sizeof(buf), "%.1f", n / 1e3);
		break;
	case OUT_STR:
		s = *(const char *const *)at;
		break;
	case OUT_REAL:
		snprintf(buf, sizeof(buf), "%.3f", *(const double *)at);
		break;
	case OUT_DIM:
		dim = at;
		if (*dim)
			snprintf(buf, sizeof(buf), "%ux%ux%u", dim[0], dim[1], dim[2]);
		break;
	case OUT_PRINT:
		print_value(file, at);
		return;
	case OUT_END:
	case OUT_BOOL:
	case OUT_HIST:
	case OUT_STACK:
		return;
	}
	if (f->width > 0 && !s) {
		fprintf(file, "%*s", f->width, buf);
		return;
	}
	columns = escape_text(file, s ? s : buf);
	if (columns < -f->width)
		fprintf(file, "%*s", -f->width - columns, "");
}

static void json_value(const struct field *f, const void *at)
{
	const unsigned *dim;
	struct timespec ts;

	switch (f->type) {
	case OUT_END:
		return;
	case OUT_UINT:
	case OUT_US:
		if (*(const unsigned long long *)at == OUT_NONE)
			fputs("null", stdout);
		else
			printf("%llu", *(const unsigned long long *)at);
		return;
	case OUT_INT:
		printf("%d", *(const int *)at);
		return;
	case OUT_PTR:
		if (*(const unsigned long long *)at == OUT_NONE)
			fputs("null", stdout);
		else
			printf("\"0x%llx\"", *(const unsigned long long *)at);
		return;
	case OUT_STR:
		if (*(const char *const *)at)
			escape_json(stdout, *(const char *const *)at);
		else
			fputs("null", stdout);
		return;
	case OUT_TIME:
		ts = wall(*(const unsigned long long *)at);
		printf("%lld.%06ld", (long long)ts.tv_sec, ts.tv_nsec / 1000);
		return;
	case OUT_DIM:
		dim = at;
		if (*dim)
			printf("[%u,%u,%u]", dim[0], dim[1], dim[2]);
		else
			fputs("null", stdout);
		return;
	case OUT_BOOL:
		fputs(*(const bool *)at ? "true" : "false", stdout);
		return;
	case OUT_HIST:
		hist_json(*(const unsigned long long *const *)at);
		return;
	case OUT_REAL:
		printf("%.3f", *(const double *)at);
		return;
	case OUT_STACK:
		stack_json(*(const struct stack *const *)at);
		return;
	case OUT_PRINT:
		print_value(stdout, at);
		return;
	}
}

void out_line_end(void)
{
	if (__fpending(stdout) > BUFFER / 2)
		out_flush();
}

void out_text_head(FILE *file, const struct field *f)
{
	const char *gap = "";

	for (; f->type; f++) {
		if (!f->head)
			continue;
		fprintf(file, "%s%*s", gap, f->width, f->head);
		gap = " ";
	}
}

void out_text(FILE *file, const struct field *f, const void *row)
{
	const char *gap = "";

	for (; f->type; f++) {
		if (!f->head)
			continue;
		fputs(gap, file);
		text_value(file, f, (const char *)row + f->at);
		gap = " ";
	}
}

void out_head(const struct field *f)
{
	if (json)
		return;
	out_text_head(stdout, f);
	putchar('\n');
}

static void json_row(const struct field *f, const void *row)
{
	const char *gap = "{";

	for (; f->type; f++) {
		if (!f->key)
			continue;
		printf("%s\"%s\":", gap, f->key);
		json_value(f, (const char *)row + f->at);
		gap = ",";
	}
	putchar('}');
}

void out_row(const struct field *f, const void *row)
{
	if (json)
		json_row(f, row);
	else
		out_text(stdout, f, row);
	putchar('\n');
	for (; !json && f->type; f++)
		if (f->type == OUT_STACK)
			stack_text(*(const struct stack *const *)((const char *)row + f->at));
	out_line_end();
}

const char *out_clock(void)
{
	static char buf[16];
	time_t now = time(NULL);

	strftime(buf, sizeof(buf), "%H:%M:%S", localtime(&now));
	return buf;
}

/* n in the largest unit that leaves at least 1 in front of the point */
static const char *scaled(double n, const double *steps, const char *const *units)
{
	static char buf[4][32];
	static int next;
	char *s = buf[next++ % 4];
	int i = 0;

	while (units[i + 1] && n >= steps[i])
		n /= steps[i++];
	snprintf(s, sizeof(buf[0]), i ? "%.1f %s" : "%.0f %s", n, units[i]);
	return s;
}

const char *out_bytes(unsigned long long bytes)
{
	static const double steps[] = { 1024, 1024, 1024, 1024 };
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", NULL };

	return scaled(bytes, steps, units);
}

const char *out_ns(unsigned long long ns)
{
	static const double steps[] = { 1000, 1000, 1000, 60, 60 };
	static const char *const units[] = { "ns", "us", "ms", "s", "min", "h", NULL };

	return scaled(ns, steps, units);
}
