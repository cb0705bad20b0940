/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <fnmatch.h>
#include <libiberty/demangle.h>
#include <string.h>
#include "agent/gpuprobe/select.h"

enum { NAME_MAX_SIZE = 4096 };

struct text {
	size_t n;
	char s[NAME_MAX_SIZE];
};

static void append(const char *s, size_t n, void *ctx)
{
	struct text *text = ctx;
	size_t room = sizeof(text->s) - 1 - text->n;

	n = n < room ? n : room;
	memcpy(text->s + text->n, s, n);
	text->n += n;
}

static bool matches(const struct select *select, const char *name)
{
	const char *end = select->globs + select->size;

	for (const char *glob = select->globs; glob < end; glob += strnlen(glob, (size_t)(end - glob)) + 1)
		if (!fnmatch(glob, name, 0))
			return true;
	return false;
}

bool select_matches(const struct select *select, const char *name, size_t n)
{
	const int options[] = { DMGL_ANSI, DMGL_ANSI | DMGL_PARAMS };
	char linked[NAME_MAX_SIZE];
	struct text text;

	if (!select->size)
		return true;
	if (n >= sizeof(linked))
		return false;
	memcpy(linked, name, n);
	linked[n] = 0;
	if (matches(select, linked))
		return true;
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		text.n = 0;
		if (!cplus_demangle_v3_callback(linked, options[i], append, &text))
			return false;
		text.s[text.n] = 0;
		if (matches(select, text.s))
			return true;
	}
	return false;
}
