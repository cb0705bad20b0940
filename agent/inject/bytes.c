/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* memcpy() and its like, which compilers call.  Most copies are short. */
#include "agent/inject/programs.h"

enum { LARGE = 256 };

void *memcpy(void *to, const void *from, unsigned long n)
{
	char *t = to;
	const char *f = from;

	if (n >= LARGE) {
		copy_large(to, from, n);
		return to;
	}
	for (; n >= 32; n -= 32, t += 32, f += 32) {
		((volatile __u64 *)t)[0] = ((const __u64 *)f)[0];
		((volatile __u64 *)t)[1] = ((const __u64 *)f)[1];
		((volatile __u64 *)t)[2] = ((const __u64 *)f)[2];
		((volatile __u64 *)t)[3] = ((const __u64 *)f)[3];
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

	if (n >= LARGE) {
		fill_large(to, byte, n);
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
