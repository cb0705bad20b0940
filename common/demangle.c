/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <setjmp.h>
#include <stddef.h>
#include <string.h>
#include <libiberty/demangle.h>
#include "demangle.h"

enum { MAX_SYMBOL = 4096, MAX_TEXT = 4096 };

struct text {
	char s[MAX_TEXT];
	size_t len;
	jmp_buf too_long;
};

/* libiberty has nothing allocated while it calls this */
static void append(const char *s, size_t len, void *ctx)
{
	struct text *t = ctx;

	if (len >= MAX_TEXT - t->len)
		longjmp(t->too_long, 1);
	memcpy(t->s + t->len, s, len);
	t->len += len;
	t->s[t->len] = 0;
}

static const char *demangled(const char *symbol, int options)
{
	static struct text t;

	if (strncmp(symbol, "_Z", 2) || strlen(symbol) > MAX_SYMBOL)
		return symbol;
	t.len = 0;
	if (setjmp(t.too_long))
		return symbol;
	if (!cplus_demangle_v3_callback(symbol, options, append, &t))
		return symbol;
	return t.s;
}

const char *demangle(const char *symbol)
{
	return demangled(symbol, DMGL_PARAMS | DMGL_ANSI);
}

const char *demangle_brief(const char *symbol)
{
	return demangled(symbol, DMGL_ANSI);
}
