/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef BASE_UTIL_H
#define BASE_UTIL_H

/* Returns what ends the noun of n things: "1 call", "2 calls". */
static inline const char *plural(unsigned long long n)
{
	return n == 1 ? "" : "s";
}

/* An unknown value in an unsigned long long. */
#define NO_VALUE (~0ull)

#endif
