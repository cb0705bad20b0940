/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The kernels of one program, by what they are called in labels. */
#ifndef KERNEL_PROGRAM_H
#define KERNEL_PROGRAM_H
#include "base/hash.h"
#include "base/quota.h"
#include "cudaexporter/kernel_map.h"
#include "cudaexporter/kernel_texts.h"
#include "sym/kernel_name.h"

/* How often a kernel is launched before it gets a name. */
enum { KERNEL_LAUNCHES = 1000 };

/* Kernels that are called the same. */
struct kernel_name {
	struct kernel_text *text;
	unsigned long long launches;	/* by the program, ever */
	unsigned long long new;		/* of those, since they were last shown */
	bool named;			/* has a series */
	UT_hash_handle hh;
};

struct kernel_program {
	unsigned long long id;
	unsigned user;			/* who is charged */
	int pid;
	unsigned named;
	unsigned long long other;	/* launches of kernels without a name, not shown yet */
	bool changed;
	struct kernel_name *names;	/* by text */
	struct kernel_called *called;	/* by struct kernel */
	UT_hash_handle hh;
};

/* What they share. */
struct kernel_naming {
	struct kernel_map map;		/* --kernel-map */
	long most;			/* --kernels: names of a program */
	struct quota quota;		/* of bytes, by user */
	struct kernel_texts texts;
	struct kernel_text *other;	/* the launches of all the others */
	unsigned long long until;	/* when to stop finding out what kernels are called, ns … */
	struct budget time;		/* … and whose have had their share of that */
};

/* Adds launches of a kernel; of an unknown one if that is NULL, or cannot be named now. */
void kernel_program_count(struct kernel_naming *n, struct kernel_program *p, const struct kernel *kernel,
			  unsigned long long launches);

/* Shows what was added since the last time: names the kernels that have enough launches, the one with the most
 * first, and adds to the series of owner. */
void kernel_program_show(struct kernel_naming *n, struct kernel_program *p, struct series_table *table,
			 struct owner *owner);

/* Frees what the program has, but not itself. */
void kernel_program_clear(struct kernel_naming *n, struct kernel_program *p);

#endif
