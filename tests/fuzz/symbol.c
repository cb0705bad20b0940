/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes a symbol of a program, or a kernel name that it passes. */
#include "base/escape.h"
#include "fuzz.h"
#include "sym/demangle.h"
#include "kernels/kernel_name.h"
#include "kernels/short_name.h"

static void check(const char *text, const char *symbol)
{
	CHECK(text && (strlen(text) <= strlen(symbol) || strlen(text) < 4096));
	capture(false);
	escape_text(stdout, text);
	CHECK(printable(captured(), false) >= 0);
}

/* The other of two short names has more digits of a hash. */
static void check_short(const char *name)
{
	char text[SHORT_NAME_SIZE], apart[SHORT_NAME_SIZE];

	short_name(text, name);
	short_name_apart(apart, name);
	CHECK(strlen(text) <= SHORT_NAME_LONGEST && strlen(apart) <= SHORT_NAME_LONGEST);
	CHECK(!*name || *text);
	CHECK(strlen(apart) >= 9 && apart[strlen(apart) - 9] == '#' && strcmp(text, apart));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct demangler demangler;
	char *symbol = strndup((const char *)data, size);
	struct kernel_names *names = kernel_names_new();
	const struct kernel *k;

	check(demangle(&demangler, symbol), symbol);
	check(demangle_brief(&demangler, symbol), symbol);
	k = kernel_named(names, 0, 0, symbol);
	CHECK(k && kernel_named(names, 0, 0, symbol) == k);
	check(k->full, symbol);
	check(k->brief, symbol);
	check(k->short_name, symbol);
	check_short(k->full);
	check_short(k->brief);
	kernel_names_free(names);
	free(symbol);
	return 0;
}
