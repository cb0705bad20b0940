/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The probes' counts, and calls in flight, as series. */
#ifndef CUDAEXPORTER_COUNTS_H
#define CUDAEXPORTER_COUNTS_H
#include <stdbool.h>
#include "cudaexporter/labelled_processes.h"
#include "model/export_maps.h"

struct probe_budget;
struct inflight;

struct counts {
	struct export_maps maps;
	bool off_cpu;
	struct processes *processes;
	struct probe_budget *budget;		/* has estimates of launches; set by the exporter */
	bool only_over;		/* only processes that are over are read */
	unsigned long long epoch;	/* clock_wall_ns() - clock_ns() */
};

/* Call when the maps are loaded.  off_cpu: --collect.off-cpu.  Dies if the kernel does not let it map them. */
void counts_open(struct counts *c, const struct export_maps *maps, bool off_cpu, struct processes *processes);

/* Reads all counts in a round.  Those of processes that are over are added permanently and deleted from the maps; then
 * these processes are freed.  only_over: skips the other processes. */
void counts_read(struct counts *c, bool only_over);

/* Call in a round: sets the gauges of calls in flight of every live process. */
void calls_inflight_collect(struct inflight *r, struct processes *c);

#endif
