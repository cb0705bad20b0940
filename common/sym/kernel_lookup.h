/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a process itself says of its kernels: its symbols, its variables and its memory. */
#ifndef KERNEL_LOOKUP_H
#define KERNEL_LOOKUP_H
#include <stdbool.h>

#include "proc/vm_read.h"

struct kernel_names;
struct kernels;
struct syms;

struct kernel_lookup {
	struct syms *syms;
	struct kernel_names *names;
	struct vm_reader reader;
};

/* Looks for this address in the process, which must live: is it a function's start, or the value
 * of a variable in which nvcc's code keeps a handle?  Then kernels_find() knows it. */
void kernel_lookup(struct kernel_lookup *l, int pid, struct kernels *k,
		   unsigned long long addr);

/* The second half of that alone, for all variables. */
void kernel_lookup_handles(struct kernel_lookup *l, int pid, struct kernels *k);

/* Reads a string of the process's memory; false if it cannot be read or is empty. */
bool kernels_read_string(struct vm_reader *reader, int pid, unsigned long long at, char *text,
			 int size);

#endif
