/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A symbol that a program has, or a kernel's name that it gives. */
#include "../../common/sym/kernel_name.c"	/* whose names have no end */
#include "sym/demangle.h"
#include "base/escape.h"
#include "fuzz.h"

static void forget(void)
{
	struct symbol *s, *next_symbol;
	struct known *k, *next_known;
	struct text *t, *next_text;

	HASH_ITER(hh, symbols, s, next_symbol) {
		HASH_DEL(symbols, s);
		free(s->name);
		free(s);
	}
	HASH_ITER(hh, known, k, next_known) {
		HASH_DEL(known, k);
		free((char *)k->kernel.full);
		free(k);
	}
	HASH_ITER(hh, briefs, t, next_text) {
		HASH_DEL(briefs, t);
		free(t->text);
		free(t);
	}
	names = 0;
}

static void check(const char *text, const char *symbol)
{
	CHECK(text && (strlen(text) <= strlen(symbol) || strlen(text) < 4096));
	capture(false);
	escape_text(stdout, text);
	CHECK(printable(captured(), false) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *symbol = strndup((const char *)data, size);
	const struct kernel *k;

	check(demangle(symbol), symbol);
	check(demangle_brief(symbol), symbol);
	k = kernel_named(symbol);
	CHECK(k && kernel_named(symbol) == k);
	check(k->full, symbol);
	check(k->brief, symbol);
	forget();
	free(symbol);
	return 0;
}
