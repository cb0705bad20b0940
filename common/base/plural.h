/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Numbers of things in text. */
#ifndef PLURAL_H
#define PLURAL_H

/* Returns what ends the noun of n things: "1 call", "2 calls". */
static inline const char *plural(unsigned long long n)
{
	return n == 1 ? "" : "s";
}

#endif
