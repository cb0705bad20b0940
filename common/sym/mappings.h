/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The mappings of processes, in which addresses are looked up, and what else is kept of stacks.  Private to
 * syms.c, mappings.c and stack.c. */
#ifndef SYM_MAPPINGS_H
#define SYM_MAPPINGS_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/stack_frames.h"
#include "base/hash.h"
#include "base/quota.h"
#include "sym/module.h"
#include "sym/stack_losses.h"

struct range {
	unsigned long long start, end, offset;
	struct module *module;
};

/* The mappings of a process. */
struct mappings {
	int pid;
	unsigned user;		/* whose quota it takes from */
	struct range *ranges;	/* in address order */
	size_t n;
	bool changed;		/* since they were read */
	bool read;		/* the last time that they should be */
	unsigned long long missed;	/* when misses were counted from, ns */
	unsigned misses;
	long long left;			/* ns that may be spent on reading them again */
	unsigned long long filled;	/* when left was last increased: clock_ns() */
	UT_hash_handle hh;
};

struct syms {
	struct modules modules;
	struct mappings *processes;
	struct stack *stacks;
	struct quota ranges_quota, stacks_quota;	/* bytes */
	struct stack_config config;
	struct python *python;
	struct unwinder *unwinder;
	struct stack_losses *losses;	/* or NULL */
	struct jit_maps *jit;
	struct lines *lines;
};

/* Returns what is known of a process, its mappings read if they were not, or have changed. */
struct mappings *mappings_of(struct syms *s, int pid);

/* Returns what is known of a process; NULL if nothing is. */
struct mappings *mappings_find(const struct syms *s, int pid);

/* Reads them again. */
struct mappings *mappings_refresh(struct syms *s, int pid);

/* Frees it, and has the other parts drop the process. */
void mappings_forget(struct syms *s, struct mappings *p);

/* Returns what its program has of Go; NULL if that is nothing, as far as is known. */
const struct elf_go *mappings_go(const struct mappings *p);

/* Returns the file at an address and sets *at to the offset in it; NULL if there is none, and *at to the
 * address.  Reads the mappings again where none has it, but not too often. */
struct module *mappings_module(struct syms *s, struct mappings *p, unsigned long long addr,
			       unsigned long long *at);

#endif
