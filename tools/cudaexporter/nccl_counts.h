/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Operations of NCCL by communicator: from records to series. */
#ifndef CUDAEXPORTER_NCCL_COUNTS_H
#define CUDAEXPORTER_NCCL_COUNTS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/hash.h"
#include "base/quota.h"
#include "cudaexporter/labelled_processes.h"
#include "nccl/communicators.h"

struct nccl_text;
struct nccl_use;
struct process_event;
struct record;
struct session;

struct nccl_counts {
	struct communicators model;
	struct processes *processes;
	struct series_table *table;
	long most;			/* --communicators: with series of their own, of a process; 0: counts nothing */
	const unsigned long long *lost;	/* the probes' count of calls without a record */
	unsigned long long lost_before;
	struct quota quota;		/* of bytes, by user */
	struct nccl_text *texts;	/* labels, by communicator and rank */
	struct nccl_text *other;	/* of those over the limit */
	struct nccl_use *uses;		/* of these labels, by process */
};

/* Call when most is set; session, processes and lost must outlive k. */
void nccl_counts_open(struct nccl_counts *k, struct session *session, struct processes *processes, const unsigned long long *lost);

/* Call before the series are freed. */
void nccl_counts_free(struct nccl_counts *k);

/* Handles a record.  Returns false if it is not one of NCCL.  May read the process's memory. */
bool nccl_counts_record(struct nccl_counts *k, const void *data, size_t size);

/* Handles a record of how a graph is made; others are ignored. */
void nccl_counts_graph(struct nccl_counts *k, const struct record *record, size_t size);

/* Call when a process has ended or runs another program (proc/process_table.h); k is a struct nccl_counts *. */
void nccl_counts_ended(void *k, const struct process_event *event);

/* Call in a round: sets the gauges.  epoch: CLOCK_REALTIME - CLOCK_MONOTONIC, ns. */
void nccl_counts_collect(struct nccl_counts *k, unsigned long long epoch);

/* As label_sets_paged(), for communicators that have ended in processes that live. */
void nccl_counts_paged(struct nccl_counts *k, unsigned scraper, unsigned active);

#endif
