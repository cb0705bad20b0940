/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stddef.h>
#include <string.h>
#include <libiberty/demangle.h>
#include "base/cpu_limit.h"
#include "sym/demangle.h"
#include "sym/rust_name.h"

/* 400 bytes of nested parameter packs take libiberty hours, during which it prints nothing: each 7
 * bytes can double the time.  So short symbols are fast. */
enum { MAX_SYMBOL = 4096, LIMIT_MS = 20, MAX_LATE = 50, SHORT = 128 };

/* libiberty holds no allocated memory when it calls this, nor at any other time. */
static void append(const char *s, size_t len, void *ctx)
{
	struct demangler *d = ctx;

	if (len >= DEMANGLER_TEXT - d->len)
		cpu_limit_abort();
	memcpy(d->text + d->len, s, len);
	d->len += len;
	d->text[d->len] = 0;
}

/* To C++, "_ZN3app4leak17h0123456789abcdefE", of Rust's older compilers, is a name, too. */
static void run(void *ctx)
{
	struct demangler *d = ctx;

	if (rust_demangle_callback(d->symbol, DMGL_RUST, append, d)) {
		d->result = d->text;
		return;
	}
	d->len = 0;
	if (cplus_demangle_v3_callback(d->symbol, d->options, append, d))
		d->result = d->text;
}

static const char *demangled(struct demangler *d, const char *symbol, int options)
{
	size_t len = strlen(symbol);
	enum cpu_limit end;

	if (rust_name(symbol, d->text, sizeof(d->text)))
		return d->text;
	if (strncmp(symbol, "_Z", 2) || len > (d->late > MAX_LATE ? SHORT : MAX_SYMBOL))
		return symbol;
	d->symbol = d->result = symbol;
	d->options = options;
	d->len = 0;
	end = cpu_limit_run(len > SHORT ? LIMIT_MS : 0, run, d);
	d->late += end == CPU_LIMIT_TIMEOUT;
	if (end == CPU_LIMIT_NO_TIMER)	/* short symbols need none */
		d->late = MAX_LATE + 1;
	return d->result;
}

const char *demangle(struct demangler *d, const char *symbol)
{
	return demangled(d, symbol, DMGL_PARAMS | DMGL_ANSI);
}

/* Numba gives each kernel two ABI tags, its version and a hash of its types: "add[abi:v1][abi:cw51...]". */
static void drop_numba_tags(char *text)
{
	char *at = strstr(text, "[abi:v"), *rest = at;

	if (at)
		rest += strspn(at + 6, "0123456789") + 6;
	if (!at || strncmp(rest, "][abi:c", 7))
		return;
	rest = strchr(rest + 1, ']');
	if (rest)
		memmove(at, rest + 1, strlen(rest + 1) + 1);
}

const char *demangle_brief(struct demangler *d, const char *symbol)
{
	const char *brief = demangled(d, symbol, DMGL_ANSI);

	if (brief == d->text)
		drop_numba_tags(d->text);
	return brief;
}
