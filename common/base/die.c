/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "base/escape.h"

enum { LOG_SIZE = 64 * 1024, LOG_LINES = 12 };

static char *kept;		/* the end of libbpf's log */
static size_t kept_len;
static bool verbose, quiet;

static void report(int err, const char *fmt, va_list ap)
{
	struct rlimit space;
	char *text = NULL;

	fflush(stdout);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	fprintf(stderr, "%s: ", program_invocation_short_name);
	escape_text(stderr, text ? text : fmt);
	if (err)
		fprintf(stderr, ": %s", strerror(err < 0 ? -err : err));
	if (err == EMFILE || err == -EMFILE)
		fprintf(stderr, " (this process may have %ld: raise the limit, ulimit -n)", sysconf(_SC_OPEN_MAX));
	if ((err == ENOMEM || err == -ENOMEM) && !getrlimit(RLIMIT_AS, &space) && space.rlim_cur != RLIM_INFINITY)
		fprintf(stderr, " (this process may map %ju KiB: raise the limit, ulimit -v)", (uintmax_t)space.rlim_cur / 1024);
	putc('\n', stderr);
	free(text);
}

void warning(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(err, fmt, ap);
	va_end(ap);
}

void note(const char *fmt, ...)
{
	va_list ap;

	if (quiet)
		return;
	va_start(ap, fmt);
	report(0, fmt, ap);
	va_end(ap);
}

static _Noreturn void finish(int status)
{
	size_t from = kept_len;

	for (int lines = 0; from && lines <= LOG_LINES; from--)
		lines += kept[from - 1] == '\n';
	if (kept_len)
		fprintf(stderr, "-- last lines of the libbpf log (-v prints all of it)\n%.*s",
			(int)(kept_len - from), kept + from);
	exit(status);
}

void die(int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(err, fmt, ap);
	va_end(ap);
	finish(EXIT_FAILURE);
}

void die_status(int status, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	report(err, fmt, ap);
	va_end(ap);
	kept_len = 0;
	finish(status);
}

static int on_libbpf(enum libbpf_print_level level, const char *fmt, va_list ap)
{
	int n;

	if (verbose)
		return vfprintf(stderr, fmt, ap);
	if (level == LIBBPF_DEBUG || !kept)
		return 0;
	if (kept_len > LOG_SIZE / 2)
		kept_len = 0;
	n = vsnprintf(kept + kept_len, LOG_SIZE - kept_len, fmt, ap);
	if (n > 0)
		kept_len += (size_t)n < LOG_SIZE - kept_len ? (size_t)n : LOG_SIZE - kept_len - 1;
	return n;
}

void log_init(bool v, bool q)
{
	verbose = v;
	quiet = q;
	kept_len = 0;
	if (!kept)
		kept = xcalloc(1, LOG_SIZE);
	libbpf_set_print(on_libbpf);
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (!p)
		die(ENOMEM, "%zu bytes", n * size);
	return p;
}

void *xrealloc(void *p, size_t n, size_t size)
{
	p = reallocarray(p, n, size);
	if (!p)
		die(ENOMEM, "%zu bytes", n * size);
	return p;
}

char *xstrdup(const char *s)
{
	char *p = strdup(s);

	if (!p)
		die(ENOMEM, "%zu bytes", strlen(s));
	return p;
}

char *xprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (vasprintf(&s, fmt, ap) < 0)
		die(ENOMEM, "a string");
	va_end(ap);
	return s;
}
