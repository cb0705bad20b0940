/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* All that is exported, collected when a page is requested. */
#ifndef CUDAEXPORTER_EXPORTER_H
#define CUDAEXPORTER_EXPORTER_H
#include <stdbool.h>
#include <stdio.h>
#include "cudaexporter/counts.h"
#include "cudaexporter/gpu_counts.h"
#include "cudaexporter/gpu_series.h"
#include "cudaexporter/kernel_counts.h"
#include "cudaexporter/memory_metrics.h"
#include "cudaexporter/nccl_counts.h"
#include "cudaexporter/profiles.h"
#include "cudaexporter/self.h"
#include "budget/probe_budget.h"
#include "inflight/inflight.h"

struct session;

struct exporter {
	struct session *session;
	struct series_table table;
	struct label_set own;		/* of the exporter's own series: no labels */
	struct processes processes;
	struct counts counts;
	struct probe_budget budget;
	struct kernel_counts kernels;
	struct gpu_counts gpu;
	struct nccl_counts nccl;
	struct memory_metrics memory;
	struct profiles profiles;
	struct gpus gpus;
	struct inflight inflight;
	struct probed probed;
	struct self self;
	struct scraper {
		unsigned long long who;		/* a hash of its address; 0: none */
		unsigned long long last;	/* when it last got a page, ns */
		unsigned long long pages;	/* that it got */
	} scrapers[SCRAPERS];
	bool ready;			/* the probes are attached */
	unsigned long long collected, checked, swept;	/* when, ns */
};

/* In place of a hash, for the pages written to a file. */
enum { SCRAPER_FILE = 1 };

struct exporter_limits {
	long series, processes;		/* --max-series, --max-processes */
};

/* The maps and variables of the loaded BPF object. */
struct exporter_probes {
	struct export_maps counts;
	struct probe_budget budget;
	const struct bpf_map *kernel_counts, *kernel_quick;
	struct shares *kernel_shares;
	const unsigned long long *nccl_lost;
	struct self_probes self;
};

/* Call before the probes are attached: sets the session's hooks.  The options have been parsed into processes.sets.labels,
 * memory.ages, kernels.naming, gpu, nccl.most, profiles.wanted and self.times.  off_cpu: --collect.off-cpu. */
void exporter_open(struct exporter *e, struct session *session, const struct exporter_limits *limits,
		   const struct exporter_probes *probes, bool off_cpu);

/* Call when the probes are attached. */
void exporter_start(struct exporter *e, const struct inflight *inflight);

/* Handles a record of the probes. */
void exporter_record(struct exporter *e, const void *data, size_t size);

/* Call every few milliseconds: reads the counts of ended processes. */
void exporter_tick(struct exporter *e);

/* Writes a page; collects first, unless that was done in the last second.  who: the scraper, or 0 for a page that no
 * Prometheus will see. */
void exporter_page(struct exporter *e, FILE *f, bool openmetrics, unsigned long long who);

/* Writes a profile to f, or begins one of a time to come: see profiles_page(). */
bool exporter_profile(struct exporter *e, const struct web_request *r, FILE *f);

void exporter_free(struct exporter *e);

#endif
