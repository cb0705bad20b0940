/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The probes' counts, and calls in flight, as series. */
#ifndef COUNTS_H
#define COUNTS_H
#include <stdbool.h>
#include "abi/cudaexporter.h"
#include "abi/shares.h"
#include "cudaexporter/processes.h"

struct bpf_map;
struct inflight;

/* Of bpf/lib/export_counts.bpf.h. */
struct counts_maps {
	const struct bpf_map *slots, *rest, *errors;
	const struct bpf_map *exemplars;	/* NULL: without --exemplars */
	struct shares *rest_shares, *error_shares, *exemplar_shares;
};

struct counts {
	struct counts_maps maps;
	bool off_cpu;
	struct processes *processes;
	struct export_slot *elements;
	unsigned nelements;
	bool only_over;		/* only processes that are over are read */
	unsigned long long epoch;	/* CLOCK_REALTIME - CLOCK_MONOTONIC, ns */
};

/* The maps are loaded.  off_cpu: --collect.off-cpu.  Dies if the kernel does not let it map them. */
void counts_open(struct counts *c, const struct counts_maps *maps, bool off_cpu, struct processes *processes);

/* Reads all counts in a round.  Those of processes that are over are added permanently and deleted from the maps; then
 * these processes are freed.  only_over: skips the other processes. */
void counts_read(struct counts *c, bool only_over);

/* Call in a round: sets the gauges of calls in flight of every live process. */
void calls_inflight_collect(struct inflight *r, struct processes *c);

#endif
