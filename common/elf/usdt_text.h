/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reading the text that says where a USDT probe's arguments are, for machine/usdt.h.  Each function moves *at beyond what it
 * has read; *at may be anywhere if it returns false. */
#ifndef ELF_USDT_TEXT_H
#define ELF_USDT_TEXT_H
#include <stdbool.h>
#include <stdlib.h>

static inline bool take_number(const char **at, long long *n)
{
	char *end;

	*n = strtoll(*at, &end, 0);
	if (end == *at)
		return false;
	*at = end;
	return true;
}

static inline bool take(const char **at, char c)
{
	if (**at != c)
		return false;
	++*at;
	return true;
}

#endif
