/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Names of code that processes generated at run time, from the files in which they list it:
 * /tmp/perf-PID.map in the process's own root directory, PID as it is called in its own PID namespace. */
#ifndef SYM_JIT_H
#define SYM_JIT_H

struct helper_pool;
struct jit_maps;
struct perf_map;
struct quota;

/* Bytes of what is read are taken from memory, which counts by user.  Both must outlive it. */
struct jit_maps *jit_maps_new(struct helper_pool *helpers, struct quota *memory);

/* Frees everything, the names too. */
void jit_maps_free(struct jit_maps *j);

/* Returns the name of the function that has this address in a process now, and sets *off to the distance from
 * its start; NULL if none is known.  Equal names are one pointer, which lives as long as j.
 *
 * Asks whether the file has changed, and reads it if so, ten times a second at most, and less often if that
 * takes long: up to HELPER_QUICK ms.  Memory of code is used again, so a name can be as old as that.  What was
 * read is kept when the process has ended. */
const char *jit_name(struct jit_maps *j, int pid, unsigned long long addr, unsigned long long *off);

/* Forgets the process's code, not the names that were returned.  Call when it has ended or exec replaced its
 * program. */
void jit_forget(struct jit_maps *j, int pid);

#endif
