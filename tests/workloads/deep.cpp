/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* deep COUNT SIZE [wait]: as deep-c, and innermost is a C++ template:
 * app::grow<int>(unsigned long) below leak_10.
 */
#include <cstdio>
#include <cstdlib>

#include "cuda_api.h"
#include "deep.h"

namespace app {

template <typename T>
KEPT int grow(unsigned long size)
{
	void *p;
	int ret = cudaMalloc(&p, size / sizeof(T) * sizeof(T));

	__asm__ volatile("" : : "r"(p) : "memory");
	return ret;
}

}

CHAIN(app::grow<int>)

int main(int argc, char **argv)
{
	if (argc < 3) {
		fprintf(stderr, "usage: deep COUNT SIZE [wait]\n");
		return 2;
	}
	unsigned long count = strtoul(argv[1], nullptr, 0);
	unsigned long size = strtoul(argv[2], nullptr, 0);
	for (unsigned long i = 0; i < count; i++)
		leak_1(size);
	if (argc > 3) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	return 0;
}
