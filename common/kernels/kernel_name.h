/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Kernels by name. */
#ifndef KERNELS_KERNEL_NAME_H
#define KERNELS_KERNEL_NAME_H

struct demangler;
struct kernel_names;

/* Equal full names share one struct kernel, and equal strings share one pointer.  Who keeps one calls
 * kernel_get(): those without a reference are freed once KERNEL_NAMES_UNHELD have been named since, or if
 * their user needs the room. */
struct kernel {
	const char *full;	/* as in the source: "void fill<int>(int*, int, int)" */
	const char *brief;	/* "fill<int>" */
	const char *short_name;	/* see kernels/short_name.h; kernels with different brief names have different ones */
};

/* One of the three. */
enum kernel_style { KERNEL_FULL, KERNEL_BRIEF, KERNEL_SHORT };

enum { KERNEL_NAMES_UNHELD = 1024 };

struct kernel_names *kernel_names_new(void);

/* Frees all kernels, also those that are held. */
void kernel_names_free(struct kernel_names *names);

/* Returns the kernel for a symbol, mangled or not.  NULL for new symbols once this user's processes
 * have supplied their share of the names that are kept, which is said with the pid. */
const struct kernel *kernel_named(struct kernel_names *names, unsigned user, int pid,
				  const char *symbol);

const char *kernel_called(const struct kernel *kernel, enum kernel_style style);

/* Keeps a kernel until as many calls of kernel_put().  Both ignore NULL; kernel_get() returns its
 * argument. */
const struct kernel *kernel_get(const struct kernel *kernel);
void kernel_put(const struct kernel *kernel);

/* Returns the kernel's symbol, which the caller frees; NULL if the variable is none of a stub's.  An extended
 * lambda has no name that can be demangled there, as it is nvcc's own: then the kernel is written out, with the
 * stub's parameters, in which the lambda is a type. */
char *kernel_of_handle(struct demangler *d, const char *variable);

#endif
