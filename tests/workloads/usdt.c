/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* usdt WORD...: an allocator with PyTorch's USDT probes, the words from left to right:
 *   malloc N SIZE   N blocks: the probe's arguments are in registers, in memory and constants in turn, each of
 *                   its own size; the device is -1, 0 and 1 in turn
 *   free N          the oldest N of them
 *   segment SIZE    memory of CUDA's, in which there is nothing but
 *   inside N SIZE EVERY   N blocks of it, one at each so many bytes
 *   semaphore       prints what the semaphore of malloc is
 *   wait            prints "ready" and reads a line
 * A probe whose semaphore is 0 is passed by.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda_api.h"
#include "tests/usdt.h"

#define KEPT __attribute__((noinline, noclone))
#define SEMAPHORE __attribute__((section(".probes"), used, visibility("hidden")))
SEMAPHORE volatile unsigned short pytorch_malloc_semaphore;
SEMAPHORE volatile unsigned short pytorch_free_semaphore;

/* As SystemTap's sys/sdt.h has it. */
#define PROBE(name, args, ...) \
	__asm__ volatile("990: nop\n" \
		".pushsection .note.stapsdt, \"?\", \"note\"\n" \
		".balign 4\n" \
		".4byte 992f - 991f, 994f - 993f, 3\n" \
		"991: .asciz \"stapsdt\"\n" \
		"992: .balign 4\n" \
		"993: .8byte 990b, _.stapsdt.base, pytorch_" #name "_semaphore\n" \
		".asciz \"pytorch\", \"" #name "\", \"" args "\"\n" \
		"994: .balign 4\n" \
		".popsection\n" \
		".ifndef _.stapsdt.base\n" \
		".pushsection .stapsdt.base, \"aG\", \"progbits\", .stapsdt.base, comdat\n" \
		".weak _.stapsdt.base\n" \
		".hidden _.stapsdt.base\n" \
		"_.stapsdt.base: .space 1\n" \
		".size _.stapsdt.base, 1\n" \
		".popsection\n" \
		".endif\n" : : __VA_ARGS__ : "memory")

#define MALLOC "8@%[ptr] -1@%[device] 8@%[size] -8@%[stream]"

KEPT static void in_registers(void *ptr, signed char device, size_t size)
{
	PROBE(malloc, MALLOC, [ptr] "r"(ptr), [device] USDT_BYTE(device), [size] "r"(size), [stream] "r"(7L));
}

KEPT static void in_memory(void *ptr, signed char device, size_t size)
{
	void *volatile p = ptr;
	volatile signed char d = device;
	volatile size_t s = size;

	PROBE(malloc, MALLOC, [ptr] "m"(p), [device] "m"(d), [size] "m"(s), [stream] "n"(0L));
}

/* An array's element, and a constant. */
KEPT static void by_index(void **ptrs, long at, size_t size)
{
	PROBE(malloc, USDT_ELEMENT " -1@%[device] 8@%[size] -8@%[stream]", USDT_ELEMENT_OF(ptrs, at),
	      [device] "n"(1), [size] "r"(size), [stream] "n"(0L));
}

static void *blocks[4096];
static int made, freed;

KEPT static void allocate(int n, size_t size)
{
	for (int i = 0; i < n && made < 4096; i++, made++) {
		blocks[made] = malloc(size);
		if (!pytorch_malloc_semaphore)
			continue;
		if (made % 3 == 0)
			in_registers(blocks[made], -1, size);
		else if (made % 3 == 1)
			in_memory(blocks[made], 0, size);
		else
			by_index(blocks, made, size);
	}
}

KEPT static void release(int n)
{
	for (int i = 0; i < n && freed < made; i++, freed++) {
		if (pytorch_free_semaphore)
			PROBE(free, "8@%[ptr]", [ptr] "r"(blocks[freed]));
		free(blocks[freed]);
	}
}

KEPT static void allocate_inside(char *segment, int n, size_t size, size_t every)
{
	for (int i = 0; i < n && pytorch_malloc_semaphore; i++)
		in_registers(segment + (size_t)i * every, 0, size);
}

int main(int argc, char **argv)
{
	void *segment = NULL;

	cudaFree(NULL);
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "malloc") && i + 2 < argc) {
			allocate(atoi(argv[i + 1]), atol(argv[i + 2]));
			i += 2;
		} else if (!strcmp(argv[i], "free") && i + 1 < argc) {
			release(atoi(argv[++i]));
		} else if (!strcmp(argv[i], "segment") && i + 1 < argc) {
			cudaMalloc(&segment, atol(argv[++i]));
		} else if (!strcmp(argv[i], "inside") && i + 3 < argc) {
			allocate_inside(segment, atoi(argv[i + 1]), atol(argv[i + 2]), atol(argv[i + 3]));
			i += 3;
		} else if (!strcmp(argv[i], "semaphore")) {
			printf("semaphore %d\n", pytorch_malloc_semaphore);
			fflush(stdout);
		} else if (!strcmp(argv[i], "wait")) {
			puts("ready");
			fflush(stdout);
			getchar();
		} else {
			return 2;
		}
	}
	return 0;
}
