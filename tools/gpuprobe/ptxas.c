/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cudagpuprobe-ptxas, cudagpuprobe-ptxas-blackwell: what Triton calls instead of ptxas.  Puts the probe of the tool that
 * runs the program into the PTX, and has the real ptxas assemble that; or the original, if anything goes wrong.  To
 * --version it adds a line that names what it puts in: Triton keeps machine code by that text, and so keeps code
 * with probes apart from code without. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "gpuprobe/fnv.h"
#include "gpuprobe/ptxas_real.h"
#include "gpuprobe/ptxas_rewrite.h"
#include "gpuprobe/ptxas_run.h"

static int assemble(const char *real, char **argv)
{
	execv(real, argv);
	fprintf(stderr, "%s: cannot run %s: %s\n", program_invocation_short_name, real, strerror(errno));
	return 255;
}

/* Returns the argument that names the PTX, or NULL: there is none, or there are several. */
static char **input_of(char **argv)
{
	char **input = NULL;
	size_t n;

	for (argv++; *argv; argv++) {
		n = strlen(*argv);
		if (**argv == '-' || n < 4 || strcmp(*argv + n - 4, ".ptx"))
			continue;
		if (input)
			return NULL;
		input = argv;
	}
	return input;
}

static bool asks_version(char **argv)
{
	for (argv++; *argv; argv++)
		if (!strcmp(*argv, "--version") || !strcmp(*argv, "-V"))
			return true;
	return false;
}

static int version(const char *real, char **argv, const struct asked *asked)
{
	struct ran ran;

	if (!ptxas_run(&ran, real, argv))
		return assemble(real, argv);
	ptxas_ran(&ran);
	printf("With probes of cuda-bpf-tools, %016llx\n", (unsigned long long)asked->hash);
	return 0;
}

static int assemble_rewritten(const char *real, char **argv, const struct asked *asked)
{
	char **input = input_of(argv), *original = input ? *input : NULL, *file;
	struct ran ran;
	bool ok;

	file = input ? ptxas_rewrite(asked, original) : NULL;
	if (!file)
		return assemble(real, argv);
	*input = file;
	ok = ptxas_run(&ran, real, argv);
	*input = original;
	unlink(file);
	free(file);
	if (!ok)
		return assemble(real, argv);
	ptxas_ran(&ran);
	return 0;
}

int main(int argc, char **argv)
{
	char *real = argc > 0 ? ptxas_real(argv[0]) : NULL;
	struct asked asked;

	if (!real) {
		fprintf(stderr, "%s: there is no ptxas: neither Triton's nor in CUDA_HOME or PATH\n", program_invocation_short_name);
		return 255;
	}
	argv[0] = real;
	if (!ptxas_asked(&asked))
		return assemble(real, argv);
	return asks_version(argv) ? version(real, argv, &asked) : assemble_rewritten(real, argv, &asked);
}
