/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Maps what one program launches, a host stub, a handle or a CUfunction, to its kernel, as far as
 * known. */
#ifndef KERNELS_H
#define KERNELS_H
#include <stdbool.h>
#include "sym/demangle.h"
#include "sym/kernel_name.h"

struct helper_pool;
struct kernel_names;
struct kernels;
struct quota;
struct syms;

/* A call that began at this time unloaded a module, library or registered binary.  The addresses of its
 * kernels are dropped, except the last KERNELS_UNLOADED of the program: a program that ends may
 * unload what its other threads still launch.  First calls fn, if not NULL, for each address, which it
 * must not change. */
void kernels_unload(struct kernels *k, unsigned long long owner, unsigned long long time,
		    void (*fn)(void *ctx, unsigned long long addr), void *ctx);
enum { KERNELS_UNLOADED = 1024 };

struct kernel_lookup {
	struct helper_pool *helpers;
	struct syms *syms;
	struct kernel_names *names;
	struct demangler demangler;	/* starts zeroed; kept, as it counts what was slow */
};

/* parent: the kernels of the process that this one was forked from, which it shares, or NULL.  It
 * must outlive the new one.  user and pid take what is kept from the quota, in bytes. */
struct kernels *kernels_new(const struct kernels *parent, struct quota *quota, unsigned user,
			    int pid);
void kernels_free(struct kernels *k);

/* Forgets all. */
void kernels_clear(struct kernels *k);

/* Return true if the program itself has registered nothing yet. */
bool kernels_are_none(const struct kernels *k);

/* The program itself named this address, or declared it the same kernel as another address, whose
 * owner is then its owner too.  kernels_name() holds the kernel. */
void kernels_name(struct kernels *k, unsigned long long addr, const struct kernel *kernel);
void kernels_alias(struct kernels *k, unsigned long long addr, unsigned long long other);

/* The program itself named this address by a string of its own at another, which kernel_lookup() reads:
 * of many kernels few are launched. */
void kernels_name_at(struct kernels *k, unsigned long long addr, unsigned long long at);

/* Call after one of these: a module, library or registered binary (0: unknown) has the kernel, as of a
 * call at this time (ns). */
void kernels_own(struct kernels *k, unsigned long long addr, unsigned long long owner,
		 unsigned long long time);

/* A launch of the runtime's handle or stub launched this driver function inside: each lends its
 * name to the other if that has none of its own. */
void kernels_pair(struct kernels *k, unsigned long long handle, unsigned long long function);

/* Returns what the runtime launched when it launched this driver function; the function itself if
 * no such launch was seen. */
unsigned long long kernels_handle(const struct kernels *k, unsigned long long function);

/* NULL if the kernel is unknown. */
const struct kernel *kernels_find(const struct kernels *k, unsigned long long addr);

/* Return true the first few times for an address, when it may be looked up in the process. */
bool kernels_may_look(struct kernels *k, unsigned long long addr);

/* Looks up an address in the process, which must be alive: if it is the start of a function or the
 * value of a variable in which nvcc's code keeps a handle, then kernels_find() will know it.
 * Variables are read once a second at most. */
void kernel_lookup(struct kernel_lookup *l, int pid, struct kernels *k,
		   unsigned long long addr);

/* Only looks up variables, and records all of their handles. */
void kernel_lookup_handles(struct kernel_lookup *l, int pid, struct kernels *k);

#endif
