/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the probes have counted: from their maps to series. */
#ifndef COUNTS_H
#define COUNTS_H
#include <stdbool.h>
#include "abi/cudaexporter.h"
#include "abi/shares.h"
#include "cudaexporter/clients.h"

struct bpf_map;

struct counts {			/* the maps of bpf/lib/export_counts.bpf.h and export_errors.bpf.h, set first */
	const struct bpf_map *slots, *rest, *errors;
	const struct bpf_map *exemplars;	/* of export_exemplars.bpf.h; NULL: there are none */
	struct shares *rest_shares, *error_shares, *exemplar_shares;
	bool off_cpu;
	struct clients *clients;
	struct series_table *table;
	/* private */
	struct export_slot *elements;
	unsigned nelements;
	bool only_over;		/* only clients that are over are read */
	unsigned long long epoch;	/* what to add to CLOCK_MONOTONIC for the time of day, ns */
};

/* Call after the maps are made. */
void counts_open(struct counts *c);

/* Reads all in a round: what clients that are over counted is added for good, and taken out of the maps; then they
 * are freed.  only_over: nothing is done for the others. */
void counts_read(struct counts *c, bool only_over);

#endif
