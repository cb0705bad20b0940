/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* deep-c COUNT SIZE [wait]: allocates through leak_1 ... leak_10, frees nothing.
 * With wait it prints "ready" and reads a line when all is allocated.
 */
#include <stdio.h>
#include <stdlib.h>

#include "cuda_api.h"
#include "deep.h"

static KEPT int allocate(size_t size)
{
	void *p;
	int ret = cudaMalloc(&p, size);

	__asm__ volatile("" : : "r"(p) : "memory");
	return ret;
}

int leak_1(size_t), leak_2(size_t), leak_3(size_t), leak_4(size_t), leak_5(size_t);
int leak_6(size_t), leak_7(size_t), leak_8(size_t), leak_9(size_t), leak_10(size_t);
CHAIN(allocate)

int main(int argc, char **argv)
{
	unsigned long i, count, size;

	if (argc < 3) {
		fprintf(stderr, "usage: deep-c COUNT SIZE [wait]\n");
		return 2;
	}
	count = strtoul(argv[1], NULL, 0);
	size = strtoul(argv[2], NULL, 0);
	for (i = 0; i < count; i++)
		leak_1(size);
	if (argc > 3) {
		puts("ready");
		fflush(stdout);
		getchar();
	}
	return 0;
}
