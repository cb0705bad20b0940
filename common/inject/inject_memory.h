/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The maps of a tool's BPF object, in memory that it shares with its probes in the programs of the command. */
#ifndef INJECT_INJECT_MEMORY_H
#define INJECT_INJECT_MEMORY_H
#include "bpf/map_backend.h"
#include "inject/inject_each.h"
#include "shmmap/shmmap.h"

struct bpf_object;
struct probes;
struct shmmap_memory;

struct inject_memory {
	struct shmmap_memory *memory;
	struct maps maps;
	struct inject_each each;
	struct inject_python *python;	/* by process: the map python_processes, which programs could change */
	unsigned left_at, named_at;	/* the elements that inject_memory_left() and inject_memory_names() come to next */
};

/* Call instead of bpf_object__load(): makes the memory, with the functions that p->source wants, and has bmap_lookup() and
 * the like use it.  Exits 1 if it cannot. */
void inject_memory_open(struct inject_memory *m, struct bpf_object *obj, const struct probes *p, const char *library);

/* Call once what is read-only has been set, before the command runs: programs take it from memory that none can change. */
void inject_memory_fix(struct inject_memory *m);

/* Probes the functions that toggle, or not. */
void inject_memory_toggle(struct inject_memory *m, const struct probes *p, bool in);

/* Turns all probes off: what they write is no longer read.  resident: the programs' next calls are to notice it. */
void inject_memory_end(struct inject_memory *m, bool resident);

/* Call every few milliseconds: updates the probes' clock. */
void inject_memory_tick(struct inject_memory *m);

/* Element of the map python_processes of a process; NULL: none. */
const struct python_process *inject_memory_python(const struct inject_memory *m, int pid);

/* Sets a mark (enum inject_marks) in all that the threads of a process have. */
void inject_memory_mark(struct inject_memory *m, unsigned pid, unsigned mark);

/* Reads the names of threads that have none yet, and again: of all, for a millisecond, from where the last call stopped.
 * is_known: whether a process may be read. */
void inject_memory_names(struct inject_memory *m, bool (*is_known)(void *ctx, unsigned pid), void *ctx, bool again);

/* Frees what the threads of a process hold, of which none is left. */
void inject_memory_drop(struct inject_memory *m, unsigned pid);

/* Runs a program (NULL: none) for threads that have ended, and frees what they hold: for some milliseconds, from where the
 * last call stopped.  Returns true if it has come to the end of all threads. */
bool inject_memory_left(struct inject_memory *m, bool (*has_ended)(void *ctx, unsigned pid, unsigned tid), void *ctx,
			const char *program);

void inject_memory_close(struct inject_memory *m);

#endif
