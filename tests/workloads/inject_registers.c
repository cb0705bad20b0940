/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject_registers: calls functions with every register known, several times in each way, and prints "same" if they got
 * what they were given, and the caller what they returned; otherwise what differs.  Status 1 then. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "inject_registers.h"
#include "tests/inject_registers.h"

static int wide, failed;

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

static void compare(const char *way, int time, const struct registers_part *p, const struct registers *a, const struct registers *b)
{
	for (; p->what; p++)
		if ((time || !p->later) && memcmp((const char *)a + p->at, (const char *)b + p->at, p->bytes))
			differs(way, time, p->what);
}

/* words: that the function takes on the stack; what is above is its caller's */
static void given(const char *way, int time, int words, const struct registers *in, const struct registers *seen)
{
	int i;

	compare(way, time, registers_given, seen, in);
	if (memcmp(seen->stack, in->stack, (size_t)words * sizeof(*in->stack)))
		differs(way, time, "arguments on the stack");
	if (!is_aligned(seen))
		differs(way, time, "alignment of the stack");
	if (has_direction(seen))
		differs(way, time, "the direction flag at the entry");
	for (i = 0; i < VECTORS; i++)
		if (memcmp(seen->vector[i], in->vector[i], i < VECTORS_LAZY || time ? vector_bytes(wide) : 0))
			differs(way, time, "a vector register at the entry");
}

static void returned(const char *way, int time, const struct registers *in, const struct registers *out,
		     const struct registers *result)
{
	int i;

	compare(way, time, registers_results, out, result);
	compare(way, time, registers_kept, out, in);
	for (i = 0; i < VECTORS_RESULT; i++)
		if (memcmp(out->vector[i], result->vector[i], vector_bytes(wide)))
			differs(way, time, "a vector register at the return");
	if (has_direction(out))
		differs(way, time, "the direction flag");
	if (modes_differ(out, echo_seen()))
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
		first_argument(&in, memory);
		fill(result, sizeof(*result), (unsigned)time + 77);
		memset(seen, 0, sizeof(*seen));
		memset(&out, 0, sizeof(out));
		registers_call(fn, &in, &out, wide);
		given(way, time, words, &in, seen);
		returned(way, time, &in, &out, result);
	}
}

int main(void)
{
	void (*fn)(void);

	wide = registers_wide();
	echo_wide(wide);
	try("PLT", 0, registers_plt_cudaMalloc);
	try("GOT", 0, registers_got_cudaFree);
	*(void **)&fn = dlsym(RTLD_DEFAULT, "cudaMalloc");
	try("dlsym", 0, fn);
	try("cudaLaunchKernel", WORDS_cudaLaunchKernel, registers_plt_cudaLaunchKernel);
	try("cuLaunchKernel", WORDS_cuLaunchKernel, registers_plt_cuLaunchKernel);
	try("cudaMemset3D", WORDS_cudaMemset3D, registers_plt_cudaMemset3D);
	if (!failed)
		puts("same");
	return failed;
}
