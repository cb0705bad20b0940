/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which kernel is meant by what a program launches: a host stub, a handle or a CUfunction. */
#ifndef KERNELS_H
#define KERNELS_H
#include <stdbool.h>

/* A kernel by name; the same full name is the same pointer, and the same string is the same
 * pointer.  They stay. */
struct kernel {
	const char *full;	/* as in the source: "void fill<int>(int*, int, int)" */
	const char *brief;	/* "fill<int>" */
};

/* From its symbol, mangled; NULL once programs have given 256 MiB of names. */
const struct kernel *kernel_named(const char *symbol);

/* What is known of the kernels of one execution of a program. */
struct kernels;

/* parent: the process that this one was forked from, with the same kernels, or NULL.  It must
 * live as long. */
struct kernels *kernels_new(int pid, const struct kernels *parent);
void kernels_free(struct kernels *k);

/* The program named this address itself, or said that it is the same kernel as another one. */
void kernels_name(struct kernels *k, unsigned long long addr, const struct kernel *kernel);
void kernels_alias(struct kernels *k, unsigned long long addr, unsigned long long other);

/* The runtime's handle or stub was launched, and inside of that the driver's function: what
 * the name of either is, if it has none of its own. */
void kernels_pair(struct kernels *k, unsigned long long handle, unsigned long long function);

/* What the runtime launched when that launched this function of the driver's; the function itself
 * if no such launch was seen. */
unsigned long long kernels_handle(const struct kernels *k, unsigned long long function);

/* NULL if it is not known. */
const struct kernel *kernels_find(const struct kernels *k, unsigned long long addr);

/* Looks in the process, which must live: is it a function's start, or the value of a variable
 * in which nvcc's code keeps a handle?  Then kernels_find() knows it. */
void kernels_resolve(struct kernels *k, unsigned long long addr);

/* The second half of that alone. */
void kernels_resolve_handles(struct kernels *k);

/* What the kernels' names are read with. */
extern struct vm_reader kernels_reader;

/* Reads a string of the process's memory; false if it cannot be read or is empty. */
bool kernels_read_string(int pid, unsigned long long at, char *text, int size);

#endif
