/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runs NVIDIA's assembler, if it is installed, and reads what it says of each kernel. */
#ifndef PTXAS_H
#define PTXAS_H
#include <stdbool.h>
#include <stddef.h>

struct ptxas_kernel {
	char *symbol;
	unsigned registers, spills, stack;	/* bytes but for the first; spills: stored and loaded */
	unsigned instructions;
};

struct ptxas_kernels {
	struct ptxas_kernel *kernel;
	size_t n;
};

/* Returns the file of ptxas: of $PATH or in /usr/local/cuda; NULL if there is none.  The caller frees it. */
char *ptxas_find(void);

/* Assembles text for an architecture.  Returns NULL, or why it failed, which the caller frees; *out is freed by
 * ptxas_free() in both cases. */
char *ptxas_run(struct ptxas_kernels *out, const char *ptxas, const char *arch, const char *text, size_t size);
void ptxas_free(struct ptxas_kernels *kernels);

/* Returns the kernel of this symbol, or NULL. */
const struct ptxas_kernel *ptxas_get(const struct ptxas_kernels *kernels, const char *symbol, size_t n);

#endif
