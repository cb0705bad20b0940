/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Launches by kernel: from the probes' maps and records to series. */
#ifndef KERNEL_COUNTS_H
#define KERNEL_COUNTS_H
#include <stdbool.h>
#include "cudaexporter/clients.h"
#include "cudaexporter/kernel_program.h"

struct bpf_map;
struct launches;
struct process_event;
struct shares;
struct syms;

struct kernel_counts {
	struct kernel_naming naming;	/* the first two are set first; most 0: there are no counts */
	struct launches *launches;
	struct kernel_program *programs;
};

/* Call after the maps of bpf/lib/launch_counts.bpf.h are made, which must outlive it, as syms. */
void kernel_counts_open(struct kernel_counts *k, struct syms *syms, const struct bpf_map *counts,
			const struct bpf_map *quick, struct shares *shares);
void kernel_counts_free(struct kernel_counts *k);

/* Call when everything is attached: records the kernels of programs that run already. */
void kernel_counts_scan(struct kernel_counts *k);

/* Call when a process has ended or runs another program (session/process.h); k is a struct kernel_counts *. */
void kernel_counts_ended(void *k, const struct process_event *event);

/* Takes the records of launches and of forks; returns false for any other, if that is all. */
bool kernel_counts_record(struct kernel_counts *k, const void *data, size_t size);

/* Call every few milliseconds. */
void kernel_counts_tick(struct kernel_counts *k);

/* Adds what was counted since the last time; call before clients that are over are freed.  only_over: just of
 * those, as no page is made. */
void kernel_counts_read(struct kernel_counts *k, struct clients *clients, struct series_table *table,
			bool only_over);

#endif
