/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* rust COUNT: allocates through functions with symbols of Rust, v0 and legacy, and of C++. */
#include <stdlib.h>

#include "cuda_api.h"

#define KEPT __attribute__((noipa))

KEPT int leak(int n) __asm__("_RNvCs4fqI2P2rA04_3app4leak");
KEPT int grow(int n) __asm__("_ZN39_$LT$app..Pool$u20$as$u20$app..Grow$GT$4grow17h0123456789abcdefE");
KEPT int pad(int n) __asm__("_ZN4core3fmt3pad17hfedcba9876543210E.llvm.1234567");
KEPT int plain(int n) __asm__("_ZN3app11has_no_hashEi");

int plain(int n)
{
	int ret = 0;
	void *p;

	for (int i = 0; i < n; i++)
		ret += cudaMalloc(&p, 600);
	return ret;
}

int pad(int n)
{
	int ret = plain(n);

	__asm__ volatile("" : : : "memory");
	return ret;
}

int grow(int n)
{
	int ret = pad(n);

	__asm__ volatile("" : : : "memory");
	return ret;
}

int leak(int n)
{
	int ret = grow(n);

	__asm__ volatile("" : : : "memory");
	return ret;
}

int main(int argc, char **argv)
{
	return leak(argc > 1 ? atoi(argv[1]) : 1) != 0;
}
