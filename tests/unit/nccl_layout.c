/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* nccl-layout FILE: prints the byte of a struct ncclComm with the rank, of that libnccl; 0 if its code does not say it. */
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
#include "api/cuda_fn.h"
#include "elf/elf.h"
#include "nccl/comm_layout.h"

static int find(const void *ctx, const char *symbol)
{
	(void)ctx;
	return cuda_fn_find(symbol);
}

static struct code code_of(int fd, const struct elf_scan *scan, int id)
{
	struct code c = { .size = 0 };
	ssize_t n = 0;

	for (int i = 0; i < scan->n; i++)
		if (scan->probes[i].id == id)
			n = pread(fd, c.bytes, CODE_SIZE, (off_t)scan->probes[i].symbol);
	c.size = n > 0 ? (size_t)n : 0;
	return c;
}

int main(int argc, char **argv)
{
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;
	struct code rank, count, device;
	struct elf_scan scan;

	if (fd < 0) {
		fprintf(stderr, "usage: nccl-layout FILE\n");
		return 2;
	}
	elf_scan(fd, find, NULL, &scan);
	rank = code_of(fd, &scan, CUDA_ID_ncclCommUserRank);
	count = code_of(fd, &scan, CUDA_ID_ncclCommCount);
	device = code_of(fd, &scan, CUDA_ID_ncclCommCuDevice);
	printf("%u\n", comm_layout_rank(&rank, &count, &device));
	return 0;
}
