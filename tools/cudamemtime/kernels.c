/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <fnmatch.h>
#include <string.h>
#include "cudamemtime/kernels.h"

struct kernel *kernels_get(struct kernels *all, const char *symbol)
{
	size_t n = strlen(symbol);
	struct kernel *k;

	HASH_FIND(hh, all->by_symbol, symbol, n, k);
	if (k)
		return k;
	k = xcalloc(1, sizeof(*k));
	k->symbol = xstrdup(symbol);
	k->name = xstrdup(demangle_brief(&all->demangler, symbol));
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
		free(k->symbol);
		free(k->name);
		free(k);
	}
}
