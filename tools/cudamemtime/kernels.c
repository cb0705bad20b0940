/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <fnmatch.h>
#include <string.h>
#include "cudamemtime/kernels.h"

/* Sixty bytes of a mangled name can be four thousand. */
enum { NAMES_MAX = 64 << 20 };

static char *add_name(struct kernels *all, char *symbol)
{
	const char *name = demangle_brief(&all->demangler, symbol);
	size_t size = strlen(name) + 1;

	if (name == symbol || size > NAMES_MAX - all->bytes)
		return symbol;
	all->bytes += size;
	return xstrdup(name);
}

struct kernel *kernels_get(struct kernels *all, const char *symbol)
{
	size_t n = strlen(symbol);
	struct kernel *k;

	HASH_FIND(hh, all->by_symbol, symbol, n, k);
	if (k)
		return k;
	k = xcalloc(1, sizeof(*k));
	k->symbol = xstrdup(symbol);
	k->name = add_name(all, k->symbol);
	HASH_ADD_KEYPTR(hh, all->by_symbol, k->symbol, n, k);
	return k;
}

static bool match(const char *glob, const char *full, const char *brief, const char *symbol)
{
	return !fnmatch(glob, brief, 0) || !fnmatch(glob, full, 0) || !fnmatch(glob, symbol, 0);
}

bool kernels_match(struct kernels *all, const char *symbol, const char *globs, size_t num)
{
	const char *brief;
	char *full;
	bool found = false;

	if (!num)
		return true;
	brief = kernels_get(all, symbol)->name;
	full = xstrdup(demangle(&all->demangler, symbol));
	for (size_t i = 0; i < num && !found; i += strlen(globs + i) + 1)
		found = match(globs + i, full, brief, symbol);
	free(full);
	return found;
}

void kernels_free(struct kernels *all)
{
	struct kernel *k, *next;

	HASH_ITER(hh, all->by_symbol, k, next) {
		HASH_DELETE(hh, all->by_symbol, k);
		if (k->name != k->symbol)
			free(k->name);
		free(k->symbol);
		free(k);
	}
}
