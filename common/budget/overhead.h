/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Cost of probes by process: its hits (bpf/lib/overhead.bpf.h) times what a hit costs, that is a trap and the tool's
 * program.  The program's time is taken in the process.  The trap's is measured at a function of this process that has an empty
 * program. */
#ifndef BUDGET_OVERHEAD_H
#define BUDGET_OVERHEAD_H
#include <stdbool.h>
#include "abi/probe_overhead.h"
#include "abi/shares.h"
#include "base/hash.h"
#include "probe/attach.h"

struct bpf_map;
struct bpf_program;

struct overhead_process {
	int pid;
	struct overhead_hits hits;	/* so far */
	double total;			/* ns, so far */
	double ns, launch_ns;		/* of the last interval; launch_ns: of launches of which only the entry is probed */
	unsigned round;			/* when it was last read */
	UT_hash_handle hh;
};

struct overhead {
	/* set first */
	struct bpf_map *map;
	struct shares *shares;
	struct attacher attacher;	/* of the tool's object and kind */
	struct bpf_program *empty;	/* cuda_empty */
	/* state */
	struct overhead_process *all;	/* by pid, for HASH_ITER(hh, ...) */
	struct attachment *probe;	/* of this process; NULL: it could not be attached */
	char *spoil;			/* memory that is read to empty caches */
	double trap_ns;
	unsigned long long measured, read, checked;	/* when, ns */
	unsigned round;
};

/* Call when the programs are loaded: measures a trap.  Warns if that is not possible, and takes a usual value. */
void overhead_open(struct overhead *o);
void overhead_free(struct overhead *o);

/* Reads all hits; forgets processes that have ended.  Returns the time since the last call, ns. */
double overhead_read(struct overhead *o);

/* Measures a trap again, if some seconds have passed: call while some process hits probes often. */
void overhead_measure(struct overhead *o);

/* Returns the process, or NULL if it has hit few probes. */
struct overhead_process *overhead_find(const struct overhead *o, int pid);

/* Returns what the tool's program takes of a hit in the process, ns. */
double overhead_program_ns(const struct overhead_process *p);

#endif
