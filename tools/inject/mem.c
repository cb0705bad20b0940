/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What compilers call by themselves, without the C library.  Most of what is copied is short, and the processor takes
 * long to begin with a rep. */
#include "inject/probes.h"

enum { REP = 256 };

void *memcpy(void *to, const void *from, unsigned long n)
{
	char *t = to;
	const char *f = from;

	if (n >= REP) {
		void *at = to;

		__asm__ volatile("rep movsb" : "+D"(at), "+S"(f), "+c"(n) : : "memory");
		return to;
	}
	for (; n >= 8; n -= 8, t += 8, f += 8)
		*(volatile __u64 *)t = *(const __u64 *)f;
	for (; n; n--)
		*(volatile char *)t++ = *f++;
	return to;
}

void *memmove(void *to, const void *from, unsigned long n)
{
	char *t = to;
	const char *f = from;

	if (t <= f || t >= f + n) {
		while (n--)
			*(volatile char *)t++ = *f++;
		return to;
	}
	while (n--)
		((volatile char *)t)[n] = f[n];
	return to;
}

void *memset(void *to, int byte, unsigned long n)
{
	__u64 word = (unsigned char)byte * 0x0101010101010101ULL;
	char *t = to;

	if (n >= REP) {
		void *at = to;

		__asm__ volatile("rep stosb" : "+D"(at), "+c"(n) : "a"(byte) : "memory");
		return to;
	}
	for (; n >= 8; n -= 8, t += 8)
		*(volatile __u64 *)t = word;
	for (; n; n--)
		*(volatile char *)t++ = (char)byte;
	return to;
}

int memcmp(const void *a, const void *b, unsigned long n)
{
	const unsigned char *x = a, *y = b;

	for (; n; n--, x++, y++)
		if (*x != *y)
			return *x - *y;
	return 0;
}
