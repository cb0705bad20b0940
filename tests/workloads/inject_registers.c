/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject_registers: calls functions with every register known, several times in each way, and prints "same" if they got
 * what they were given, and the caller what they returned; otherwise what differs.  Status 1 then. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "inject_registers.h"

static int avx, failed;

static void differs(const char *way, int time, const char *what)
{
	printf("%s, call %d: %s\n", way, time, what);
	failed = 1;
}

static void fill(void *at, size_t bytes, unsigned seed)
{
	unsigned char *p = at;

	while (bytes--) {
		seed = seed * 1103515245 + 12345;
		*p++ = (unsigned char)(seed >> 16);
	}
}

/* words: that the function takes on the stack; what is above is its caller's */
static void given(const char *way, int time, int words, const struct registers *in, const struct registers *seen)
{
	size_t width = avx ? 32 : 16;
	int i;

	if (seen->rdi != in->rdi || seen->rsi != in->rsi || seen->rdx != in->rdx || seen->rcx != in->rcx ||
	    seen->r8 != in->r8 || seen->r9 != in->r9)
		differs(way, time, "arguments in registers");
	if (seen->rax != in->rax)
		differs(way, time, "rax at the entry");
	/* the dynamic linker may lose it when it binds a function lazily */
	if (time && seen->r10 != in->r10)
		differs(way, time, "r10 at the entry");
	if (memcmp(seen->stack, in->stack, (size_t)words * sizeof(*in->stack)))
		differs(way, time, "arguments on the stack");
	if (seen->rsp % 16 != 8)
		differs(way, time, "alignment of the stack");
	if (seen->flags & 0x400)
		differs(way, time, "the direction flag at the entry");
	for (i = 0; i < 16; i++)
		if (memcmp(seen->vector[i], in->vector[i], i < 8 || time ? width : 0))
			differs(way, time, "a vector register at the entry");
}

static void returned(const char *way, int time, const struct registers *in, const struct registers *out,
		     const struct registers *result)
{
	size_t width = avx ? 32 : 16;

	if (out->rax != result->rax || out->rdx != result->rdx)
		differs(way, time, "the result");
	if (memcmp(out->vector[0], result->vector[0], width) || memcmp(out->vector[1], result->vector[1], width))
		differs(way, time, "a vector register at the return");
	if (out->rbx != in->rbx || out->rbp != in->rbp || out->r12 != in->r12 || out->r13 != in->r13 ||
	    out->r14 != in->r14 || out->r15 != in->r15)
		differs(way, time, "registers to keep");
	if (out->flags & 0x400)
		differs(way, time, "the direction flag");
	if (out->mxcsr != echo_seen()->mxcsr || (out->x87 ^ echo_seen()->x87) & 0xffff)
		differs(way, time, "modes of floating point");
}

static void try(const char *way, int words, void (*fn)(void))
{
	static struct registers in, out;
	static char memory[64];
	struct registers *seen = echo_seen(), *result = echo_result();
	int time;

	for (time = 0; time < 3; time++) {
		fill(&in, sizeof(in), (unsigned)time + 1);
		in.rdi = (unsigned long)memory;	/* where cudaMalloc stores */
		fill(result, sizeof(*result), (unsigned)time + 77);
		memset(seen, 0, sizeof(*seen));
		memset(&out, 0, sizeof(out));
		registers_call(fn, &in, &out, avx);
		given(way, time, words, &in, seen);
		returned(way, time, &in, &out, result);
	}
}

int main(void)
{
	void (*fn)(void);

	avx = __builtin_cpu_supports("avx2") != 0;
	echo_avx(avx);
	try("PLT", 0, registers_plt_cudaMalloc);
	try("GOT", 0, registers_got_cudaFree);
	*(void **)&fn = dlsym(RTLD_DEFAULT, "cudaMalloc");
	try("dlsym", 0, fn);
	try("cudaLaunchKernel", 2, registers_plt_cudaLaunchKernel);
	try("cudaMemset3D", 7, registers_plt_cudaMemset3D);
	if (!failed)
		puts("same");
	return failed;
}
