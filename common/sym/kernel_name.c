/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/hash.h"
#include "base/quota.h"
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
	struct quota quota;	/* in bytes; never given back, as names may be in use anywhere */
};

/* A symbol's entries on the heap, without its texts. */
enum { SYMBOL_COST = sizeof(struct known_symbol) + sizeof(struct known_kernel) +
		     sizeof(struct known_brief) + 128 };

struct kernel_names *kernel_names_new(void)
{
	struct kernel_names *names = xcalloc(1, sizeof(*names));

	names->quota = (struct quota){
		.limit = 32 << 20, .what = "kernel names",
		.loss = "further kernels are shown as addresses",
	};
	return names;
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
	quota_free(&names->quota);
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

/* Frees text or keeps it. */
static const char *brief_of(struct kernel_names *names, char *text)
{
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

/* Frees the texts or keeps them. */
static const struct kernel *kernel_of(struct kernel_names *names, char *full, char *brief)
{
	struct known_kernel *k;

	HASH_FIND_STR(names->kernels, full, k);
	if (k) {
		free(full);
		free(brief);
		return &k->kernel;
	}
	k = xcalloc(1, sizeof(*k));
	k->kernel.full = full;
	k->kernel.brief = brief_of(names, brief);
	HASH_ADD_KEYPTR(hh, names->kernels, k->kernel.full, strlen(full), k);
	return &k->kernel;
}

static const struct kernel *add(struct kernel_names *names, const char *symbol, char *full,
				char *brief)
{
	struct known_symbol *s = xcalloc(1, sizeof(*s));

	s->name = xstrdup(symbol);
	s->kernel = kernel_of(names, full, brief);
	HASH_ADD_KEYPTR(hh, names->symbols, s->name, strlen(symbol), s);
	return s->kernel;
}

const struct kernel *kernel_named(struct kernel_names *names, unsigned user, int pid,
				  const char *symbol)
{
	size_t len = strlen(symbol), cost = SYMBOL_COST + len;
	char *full, *brief;
	struct known_symbol *s;

	HASH_FIND_STR(names->symbols, symbol, s);
	if (s)
		return s->kernel;
	/* first this, as demangling takes time */
	if (!quota_take(&names->quota, user, pid, cost))
		return NULL;
	full = without_stub(demangle(&names->demangler, symbol));
	brief = without_stub(demangle_brief(&names->demangler, symbol));
	if (quota_take(&names->quota, user, pid, strlen(full) + strlen(brief)))
		return add(names, symbol, full, brief);
	quota_give(&names->quota, user, cost);
	free(full);
	free(brief);
	return NULL;
}
