/* SPDX-License-Identifier: GPL-2.0 */
/* Bounds that the verifier sees whatever a compiler makes of the program. */
#ifndef BOUNDS_BPF_H
#define BOUNDS_BPF_H
#include <linux/types.h>

/* Returns value, at most max: for an index or a size.  In assembly, as a compiler may check another
 * register than the one that is used then, or leave out a check of what it knows and the verifier does
 * not. */
static __always_inline __u64 bounded(__u64 value, const __u64 max)
{
	asm volatile("if %[value] <= %[max] goto +1\n"
		     "%[value] = %[max]" : [value] "+r"(value) : [max] "ri"(max));
	return value;
}

/* The same where value was compared with max before: for the verifier only. */
static __always_inline __u64 checked(__u64 value, const __u64 max)
{
	return bounded(value, max);
}

/* Returns the bits of value that are in mask, as a number of its own: what is compared with it then tells the
 * verifier nothing of value, which would tell one turn of a loop from another.  For a mask of 31 bits. */
static __always_inline __u64 unlinked(__u64 value, const __u64 mask)
{
	asm volatile("%[value] &= %[mask]" : [value] "+r"(value) : [mask] "i"(mask));
	return value;
}

#endif
