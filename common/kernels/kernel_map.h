/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Maps what one program launches, a host stub, a handle or a CUfunction, to its kernel, as far as
 * known. */
#ifndef KERNELS_KERNEL_MAP_H
#define KERNELS_KERNEL_MAP_H
#include <stdbool.h>
#include "sym/demangle.h"
#include "kernels/kernel_name.h"

struct helper_pool;
struct kernel_names;
struct kernel_map;
struct quota;
struct syms;

/* A call that began at this time unloaded a module, library or registered binary.  The addresses of its
 * kernels are dropped, except the last KERNELS_UNLOADED of the program: a program that ends may
 * unload what its other threads still launch.  First calls fn, if not NULL, for each address, which it
 * must not change. */
void kernel_map_unload(struct kernel_map *k, unsigned long long owner, unsigned long long time,
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
struct kernel_map *kernel_map_new(const struct kernel_map *parent, struct quota *quota, unsigned user,
			    int pid);
void kernel_map_free(struct kernel_map *k);

/* Forgets all. */
void kernel_map_clear(struct kernel_map *k);

/* Return true if the program itself has registered nothing yet. */
bool kernel_map_are_none(const struct kernel_map *k);

/* The program itself named this address, or declared it the same kernel as another address, whose
 * owner is then its owner too.  kernel_map_name() holds the kernel. */
void kernel_map_name(struct kernel_map *k, unsigned long long addr, const struct kernel *kernel);
void kernel_map_alias(struct kernel_map *k, unsigned long long addr, unsigned long long other);

/* The program itself named this address by a string of its own at another, which kernel_lookup() reads:
 * of many kernels few are launched. */
void kernel_map_name_at(struct kernel_map *k, unsigned long long addr, unsigned long long at);

/* Call after one of these: a module, library or registered binary (0: unknown) has the kernel, as of a
 * call at this time (ns). */
void kernel_map_own(struct kernel_map *k, unsigned long long addr, unsigned long long owner,
		 unsigned long long time);

/* A launch of the runtime's handle or stub launched this driver function inside: each lends its
 * name to the other if that has none of its own. */
void kernel_map_pair(struct kernel_map *k, unsigned long long handle, unsigned long long function);

/* Returns what the runtime launched when it launched this driver function; the function itself if
 * no such launch was seen. */
unsigned long long kernel_map_handle(const struct kernel_map *k, unsigned long long function);

/* NULL if the kernel is unknown. */
const struct kernel *kernel_map_find(const struct kernel_map *k, unsigned long long addr);

/* Return true the first few times for an address, when it may be looked up in the process. */
bool kernel_map_may_look(struct kernel_map *k, unsigned long long addr);

/* Looks up an address in the process, which must be alive: if it is the start of a function or the
 * value of a variable in which nvcc's code keeps a handle, then kernel_map_find() will know it.
 * Variables are read once a second at most. */
void kernel_lookup(struct kernel_lookup *l, int pid, struct kernel_map *k,
		   unsigned long long addr);

/* Only looks up variables, and records all of their handles. */
void kernel_lookup_handles(struct kernel_lookup *l, int pid, struct kernel_map *k);

#endif
