/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which kernel is meant by what one program launches, a host stub, a handle or a CUfunction, as
 * far as it has been told. */
#ifndef KERNELS_H
#define KERNELS_H
#include <stdbool.h>
#include "sym/kernel_name.h"

struct kernels;

/* parent: of the process that this one was forked from, with the same kernels, or NULL.  It must
 * live as long. */
struct kernels *kernels_new(const struct kernels *parent);
void kernels_free(struct kernels *k);

/* The program named this address itself, or said that it is the same kernel as another one. */
void kernels_name(struct kernels *k, unsigned long long addr, const struct kernel *kernel);
void kernels_alias(struct kernels *k, unsigned long long addr, unsigned long long other);

/* The runtime's handle or stub was launched, and inside of that the driver's function: what
 * the name of either is, if it has none of its own. */
void kernels_pair(struct kernels *k, unsigned long long handle, unsigned long long function);

/* Returns what the runtime launched when that launched this function of the driver's; the
 * function itself if no such launch was seen. */
unsigned long long kernels_handle(const struct kernels *k, unsigned long long function);

/* Returns what the program said that this address is the same as; the address itself if nothing. */
unsigned long long kernels_original(const struct kernels *k, unsigned long long addr);

/* NULL if it is not known. */
const struct kernel *kernels_find(const struct kernels *k, unsigned long long addr);

/* Returns true the first few times for an address: then it may be looked for in the process. */
bool kernels_may_look(struct kernels *k, unsigned long long addr);

#endif
