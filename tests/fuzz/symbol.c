/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes a symbol of a program, or a kernel name that it passes. */
#include "base/escape.h"
#include "fuzz.h"
#include "sym/demangle.h"
#include "kernels/kernel_name.h"

static void check(const char *text, const char *symbol)
{
	CHECK(text && (strlen(text) <= strlen(symbol) || strlen(text) < 4096));
	capture(false);
	escape_text(stdout, text);
	CHECK(printable(captured(), false) >= 0);
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
	kernel_names_free(names);
	free(symbol);
	return 0;
}
