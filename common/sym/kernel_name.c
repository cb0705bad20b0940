/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/hash.h"
#include "sym/demangle.h"
#include "sym/kernel_name.h"

/* Keyed by full name, so that "_ZL5scalePf" on the host and "_Z5scalePf" on the device are one. */
struct known_kernel {
	struct kernel kernel;
	UT_hash_handle hh;
};

struct known_brief {
	char *text;
	UT_hash_handle hh;
};

struct known_symbol {
	char *name;
	const struct kernel *kernel;
	UT_hash_handle hh;
};

struct kernel_names {
	struct demangler demangler;
	struct known_kernel *kernels;
	struct known_brief *briefs;
	struct known_symbol *symbols;
	size_t size;		/* bytes */
};

/* In bytes; further kernel names from programs are ignored. */
static const size_t MAX_NAMES = 256ull << 20;

struct kernel_names *kernel_names_new(void)
{
	return xcalloc(1, sizeof(struct kernel_names));
}

void kernel_names_free(struct kernel_names *names)
{
	struct known_kernel *k, *next_kernel;
	struct known_brief *b, *next_brief;
	struct known_symbol *s, *next_symbol;

	HASH_ITER(hh, names->symbols, s, next_symbol) {
		HASH_DEL(names->symbols, s);
		free(s->name);
		free(s);
	}
	HASH_ITER(hh, names->kernels, k, next_kernel) {
		HASH_DEL(names->kernels, k);
		free((char *)k->kernel.full);
		free(k);
	}
	HASH_ITER(hh, names->briefs, b, next_brief) {
		HASH_DEL(names->briefs, b);
		free(b->text);
		free(b);
	}
	free(names);
}

/* clang names its stubs __device_stub__ followed by the kernel's name. */
static char *without_stub(const char *text)
{
	static const char prefix[] = "__device_stub__";
	char *s = xstrdup(text), *at = strstr(s, prefix);

	if (at && at[sizeof(prefix) - 1])
		memmove(at, at + sizeof(prefix) - 1, strlen(at + sizeof(prefix) - 1) + 1);
	return s;
}

static const char *brief_of(struct kernel_names *names, const char *symbol)
{
	char *text = without_stub(demangle_brief(&names->demangler, symbol));
	struct known_brief *b;

	HASH_FIND_STR(names->briefs, text, b);
	if (b) {
		free(text);
		return b->text;
	}
	b = xcalloc(1, sizeof(*b));
	b->text = text;
	HASH_ADD_KEYPTR(hh, names->briefs, b->text, strlen(text), b);
	return b->text;
}

static const struct kernel *kernel_of(struct kernel_names *names, const char *symbol)
{
	char *full = without_stub(demangle(&names->demangler, symbol));
	struct known_kernel *k;

	HASH_FIND_STR(names->kernels, full, k);
	if (k) {
		free(full);
		return &k->kernel;
	}
	k = xcalloc(1, sizeof(*k));
	k->kernel.full = full;
	k->kernel.brief = brief_of(names, symbol);
	HASH_ADD_KEYPTR(hh, names->kernels, k->kernel.full, strlen(full), k);
	return &k->kernel;
}

const struct kernel *kernel_named(struct kernel_names *names, const char *symbol)
{
	struct known_symbol *s;

	HASH_FIND_STR(names->symbols, symbol, s);
	if (s)
		return s->kernel;
	if (names->size > MAX_NAMES)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->name = xstrdup(symbol);
	s->kernel = kernel_of(names, symbol);
	names->size += sizeof(*s) + strlen(symbol) + strlen(s->kernel->full) +
		       strlen(s->kernel->brief);
	HASH_ADD_KEYPTR(hh, names->symbols, s->name, strlen(symbol), s);
	return s->kernel;
}
