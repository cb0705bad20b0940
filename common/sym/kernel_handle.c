/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "sym/demangle.h"
#include "sym/kernel_handle.h"

enum { MAX_PARTS = 32 };

static const char prefix[] = "__device_stub_";

/* A kernel stub's variable, "_ZZ25__device_stub__Z5scalePfiPfiE8__handle", contains the kernel's symbol: 25
 * characters from __device_stub_ on, which without it are "_Z5scalePfi". */
static char *symbol_of(const char *variable)
{
	const char *at = strstr(variable, prefix), *digit = at;
	size_t skip = sizeof(prefix) - 1, len;

	while (digit && digit > variable && digit[-1] >= '0' && digit[-1] <= '9')
		digit--;
	len = at ? strtoul(digit, NULL, 10) : 0;
	if (len <= skip || len > strlen(at))
		return NULL;
	return xprintf("%.*s", (int)(len - skip), at + skip);
}

/* Appends one part of a name, "6native", and moves *at beyond it; false if there is none. */
static bool take_part(const char **at, char **name)
{
	size_t len = strtoul(*at, (char **)at, 10);
	char *longer;

	if (!len || len > strlen(*at))
		return false;
	longer = strncmp(*at, "_GLOBAL__N", 10) ? xprintf("%s%s%.*s", *name, **name ? "::" : "", (int)len, *at) :
		 xprintf("%s%s(anonymous namespace)", *name, **name ? "::" : "");
	free(*name);
	*name = longer;
	*at += len;
	return true;
}

/* "at::native::reduce_kernel" of "_ZN2at6native13reduce_kernelI..." */
static char *plain_name(const char *symbol)
{
	const char *at = symbol + strcspn(symbol, "0123456789");
	char *name = xstrdup("");

	for (int n = 0; n < MAX_PARTS && *at >= '0' && *at <= '9' && take_part(&at, &name); n++)
		;
	return name;
}

/* The parameters in "__device_stub__...(PARAMETERS)::__handle", with their parentheses; *len. */
static const char *parameters(const char *text, size_t *len)
{
	const char *open = strchr(text, '('), *end = strstr(text, "::__handle");

	*len = open && end && end > open ? (size_t)(end - open) : 0;
	return open;
}

char *kernel_of_handle(struct demangler *d, const char *variable)
{
	char *symbol = symbol_of(variable), *name, *written;
	const char *params;
	size_t len;

	if (!symbol || !strstr(symbol, "Unvhdl"))
		return symbol;
	params = parameters(demangle(d, variable), &len);
	name = plain_name(symbol);
	written = *name && len ? xprintf("%s%.*s", name, (int)len, params) : NULL;
	free(name);
	if (!written)
		return symbol;
	free(symbol);
	return written;
}
