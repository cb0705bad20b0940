/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stddef.h>
#include <string.h>
#include <libiberty/demangle.h>
#include "sym/demangle.h"
#include "base/cpu_limit.h"

/* 400 bytes of nested parameter packs are hours of libiberty's work, which prints nothing
 * meanwhile: each 7 bytes can double it.  So what is short is quick. */
enum { MAX_SYMBOL = 4096, MAX_TEXT = 4096, LIMIT_MS = 20, MAX_LATE = 50, SHORT = 128 };

struct demangling {
	const char *symbol;
	int options;
	const char *result;
	size_t len;
	char text[MAX_TEXT];
};

static int late;

/* libiberty has nothing allocated while it calls this, nor at any other time */
static void append(const char *s, size_t len, void *ctx)
{
	struct demangling *d = ctx;

	if (len >= MAX_TEXT - d->len)
		cpu_limit_give_up();
	memcpy(d->text + d->len, s, len);
	d->len += len;
	d->text[d->len] = 0;
}

static void run(void *ctx)
{
	struct demangling *d = ctx;

	if (cplus_demangle_v3_callback(d->symbol, d->options, append, d))
		d->result = d->text;
}

static const char *demangled(const char *symbol, int options)
{
	static struct demangling d;
	size_t len = strlen(symbol);
	enum cpu_limit end;

	if (strncmp(symbol, "_Z", 2) || len > (late > MAX_LATE ? SHORT : MAX_SYMBOL))
		return symbol;
	d.symbol = d.result = symbol;
	d.options = options;
	d.len = 0;
	end = cpu_limit_run(len > SHORT ? LIMIT_MS : 0, run, &d);
	late += end == CPU_LIMIT_LATE;
	if (end == CPU_LIMIT_NO_TIMER)	/* what is short needs none */
		late = MAX_LATE + 1;
	return d.result;
}

const char *demangle(const char *symbol)
{
	return demangled(symbol, DMGL_PARAMS | DMGL_ANSI);
}

const char *demangle_brief(const char *symbol)
{
	return demangled(symbol, DMGL_ANSI);
}
