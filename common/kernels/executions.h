/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The traced programs, and which kernels they launch: from their calls, and by inspecting their
 * processes. */
#ifndef KERNELS_EXECUTIONS_H
#define KERNELS_EXECUTIONS_H
#include <stddef.h>
#include "base/hash.h"
#include "base/quota.h"
#include "kernels/kernel_map.h"

struct executions;

/* One execution of a program in a process.  A tool that keeps more data for each has its own struct
 * that begins with this one and starts zeroed. */
struct execution {
	unsigned long long id;	/* the tool's choice: unique to each execution, or the pid */
	int pid;
	unsigned user;		/* proc_user() */
	struct kernel_map *kernels;
	/* state of executions.c */
	struct executions *programs;
	struct execution *parent;	/* that it was forked from, or NULL */
	int children;		/* that look up their kernels here */
	int depth;		/* number of its ancestors that are kept */
	bool ended, charged;
	UT_hash_handle hh;
};

struct executions {
	struct execution *all;	/* running programs by id; iterate with hh.next */
	/* state of executions.c */
	struct execution *scanned;	/* by pid, as their ids are not known yet */
	struct kernel_lookup lookup;
	struct quota quota;	/* bytes of programs and of what they call their kernels */
	size_t size;		/* of the tool's struct */
	void (*on_free)(struct execution *p);	/* set by a tool that keeps more data, or NULL: frees it */
};

/* The caller owns syms, which must outlive the result; with NULL, processes are not inspected. */
struct executions *executions_new(struct syms *syms, size_t size);
void executions_free(struct executions *ps);

/* Returns the program with this id; NULL if there is none. */
struct execution *executions_find(const struct executions *ps, unsigned long long id);

/* Returns the program with this id, a new one if there is none. */
struct execution *executions_get(struct executions *ps, unsigned long long id, int pid);

/* Returns a new program that shares the kernels of its parent, if that is known and not too many
 * are kept for their descendants; or the existing program with this id. */
struct execution *executions_fork(struct executions *ps, unsigned long long parent,
			      unsigned long long id, int pid);

/* For a process that already runs when tracing begins: records its kernels now, as it may end
 * before a call reveals its program's id. */
void executions_scan(struct executions *ps, int pid);

/* Call when the process ended or exec replaced its program; p is invalid afterwards. */
void execution_end(struct execution *p);

/* Call when the process ended and its kernels are not needed again: frees them, unless it has
 * children.  p stays. */
void execution_forget_kernels(struct execution *p);

/* Records the handles that the process has now. */
void execution_scan(struct execution *p);

/* Sets *kernel to the kernel named by text or, if that is NULL or empty, by the string at this
 * address in the process; to NULL if there are too many kernels.  Return false if there is no
 * name. */
bool execution_kernel_named(struct execution *p, const char *text, unsigned long long at,
			  const struct kernel **kernel);

/* Returns the kernel of an address.  If it is unknown, looks it up in the process, which must be
 * alive, at most a few times.  NULL if it was not found. */
const struct kernel *execution_kernel(struct execution *p, unsigned long long addr);

#endif
