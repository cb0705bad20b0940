/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The programs that are traced, and which kernel each means by what it launches: by what its calls
 * tell, and by looking into its process. */
#ifndef PROGRAMS_H
#define PROGRAMS_H
#include <stddef.h>
#include "base/hash.h"
#include "sym/kernel_lookup.h"
#include "sym/kernels.h"

struct programs;

/* One execution of a program in a process.  A tool that keeps more of each has a struct of its own
 * that begins with this one, and is 0 at first. */
struct program {
	unsigned long long id;	/* the tool's choice: its own for each execution, or the pid */
	int pid;
	struct kernels *kernels;
	/* state of programs.c */
	struct programs *programs;
	struct program *parent;	/* it was forked from, or NULL */
	int children;		/* that look for their kernels here */
	bool ended;
	UT_hash_handle hh;
};

struct programs {
	struct program *all;	/* by id, for hh.next: those that have not ended */
	/* state of programs.c */
	struct program *scanned;	/* by pid: their ids are not known yet */
	struct kernel_lookup lookup;
	size_t size;		/* of the tool's struct */
};

/* syms is the caller's, and must live as long; with NULL nothing is found by looking. */
struct programs *programs_new(struct syms *syms, size_t size);
void programs_free(struct programs *ps);

/* NULL if there is none. */
struct program *programs_find(const struct programs *ps, unsigned long long id);

/* Returns the program of this id, a new one if there is none. */
struct program *programs_get(struct programs *ps, unsigned long long id, int pid);

/* Returns a new program, which has its parent's kernels, if that is known; if there is one of this
 * id already, that. */
struct program *programs_fork(struct programs *ps, unsigned long long parent,
			      unsigned long long id, int pid);

/* Tracing begins while this process runs: notes what its kernels are, as it may end before a call
 * tells its program's id. */
void programs_scan(struct programs *ps, int pid);

/* The process ended or exec replaced its program, and nothing asks for it any more: p is gone. */
void program_end(struct program *p);

/* Notes the handles that its process has now. */
void program_scan(struct program *p);

/* Sets *kernel to the one of this name: of the text, or, if that is NULL or empty, of what is at
 * this address of the process; to NULL if there are too many.  Returns false if there is no name. */
bool program_kernel_named(struct program *p, const char *text, unsigned long long at,
			  const struct kernel **kernel);

/* Returns the kernel of an address.  If it is not known, looks in the process, which must live, a
 * few times at most.  NULL if it was not found. */
const struct kernel *program_look(struct program *p, unsigned long long addr);

#endif
