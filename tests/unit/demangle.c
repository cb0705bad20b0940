/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Counts the allocations and frees of libiberty while it demangles the symbols in files, one per
 * line: common/sym/demangle.c may leave it at any instruction, by longjmp() out of a signal
 * handler, so there must be none; it passes no v0 symbol of Rust.  The functions here replace libc's own, so what libc allocates
 * for libiberty is counted too.  With -a, counts those of a function that does allocate. */
#include <libiberty/demangle.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/cpu_limit.h"

enum { LIMIT_MS = 20, MAX_TEXT = 4096 };

struct symbol {
	const char *text;
	int options;
	size_t len;
	bool whole;
};

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);
void __libc_free(void *p);

static volatile bool watched;
static volatile unsigned long allocations;

static void count(void)
{
	allocations += watched;
}

void *malloc(size_t size)
{
	count();
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	count();
	return __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	count();
	return __libc_realloc(p, size);
}

void *memalign(size_t align, size_t size)
{
	count();
	return __libc_memalign(align, size);
}

void *aligned_alloc(size_t align, size_t size)
{
	return memalign(align, size);
}

int posix_memalign(void **p, size_t align, size_t size)
{
	*p = memalign(align, size);
	return *p ? 0 : 12;
}

void free(void *p)
{
	count();
	__libc_free(p);
}

static void append(const char *s, size_t len, void *ctx)
{
	struct symbol *symbol = ctx;

	(void)s;
	symbol->len += len;
	if (symbol->len >= MAX_TEXT)
		cpu_limit_abort();
}

static void demangle(void *ctx)
{
	struct symbol *s = ctx;

	watched = true;
	s->whole = (!strncmp(s->text, "_Z", 2) && rust_demangle_callback(s->text, DMGL_RUST, append, s)) ||
		   cplus_demangle_v3_callback(s->text, s->options, append, s);
	watched = false;
}

/* The other function of libiberty returns memory. */
static void allocate(void *ctx)
{
	struct symbol *s = ctx;

	watched = true;
	free(cplus_demangle_v3(s->text, s->options));
	watched = false;
}

struct totals {
	int symbols, whole, late, too_long;
};

static void try(struct totals *t, const char *text, void (*fn)(void *ctx))
{
	static const int options[] = { DMGL_PARAMS | DMGL_ANSI, DMGL_ANSI };

	for (int i = 0; i < 2; i++) {
		struct symbol s = { text, options[i], 0, false };
		enum cpu_limit end = cpu_limit_run(LIMIT_MS, fn, &s);

		watched = false;
		t->whole += end == CPU_LIMIT_DONE && s.whole;
		t->late += end == CPU_LIMIT_TIMEOUT;
		t->too_long += end == CPU_LIMIT_ABORTED;
	}
	t->symbols++;
}

int main(int argc, char **argv)
{
	bool allocates = argc > 1 && !strcmp(argv[1], "-a");
	struct totals t = { 0 };
	char *line = NULL;
	size_t size = 0;

	for (int i = 1 + allocates; i < argc; i++) {
		FILE *f = fopen(argv[i], "re");

		if (!f)
			return EXIT_FAILURE;
		while (getline(&line, &size, f) > 0) {
			line[strcspn(line, "\n")] = 0;
			try(&t, line, allocates ? allocate : demangle);
		}
		fclose(f);
	}
	printf("{\"symbols\":%d,\"whole\":%d,\"late\":%d,\"too_long\":%d,\"allocations\":%lu}\n", t.symbols,
	       t.whole, t.late, t.too_long, allocations);
	return 0;
}
