/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Kernels by name. */
#ifndef KERNEL_NAME_H
#define KERNEL_NAME_H

/* Equal full names share one struct kernel, and equal strings share one pointer.  They live as long
 * as the struct kernel_names that owns them. */
struct kernel {
	const char *full;	/* as in the source: "void fill<int>(int*, int, int)" */
	const char *brief;	/* "fill<int>" */
};

struct kernel_names;

struct kernel_names *kernel_names_new(void);
void kernel_names_free(struct kernel_names *names);

/* Returns the kernel for a symbol, mangled or not.  NULL for new symbols once this user's processes
 * have supplied their share of the names that are kept, which is said with the pid. */
const struct kernel *kernel_named(struct kernel_names *names, unsigned user, int pid,
				  const char *symbol);

#endif
