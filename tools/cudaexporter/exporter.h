/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the exporter has of all processes, collected when a page is asked for. */
#ifndef EXPORTER_H
#define EXPORTER_H
#include <stdbool.h>
#include <stdio.h>
#include "cudaexporter/counts.h"
#include "cudaexporter/gpus.h"
#include "cudaexporter/held.h"
#include "cudaexporter/kernel_counts.h"
#include "cudaexporter/probed.h"
#include "cudaexporter/self.h"
#include "model/inflight.h"

struct process_event;
struct session;

/* Who asks for pages: see page.h. */
struct reader {
	unsigned long long who;		/* 0: none */
	unsigned long long last;	/* when it last asked, ns */
	unsigned long long pages;	/* that it got */
};

struct exporter {
	struct session *session;
	struct series_table table;
	struct owner owner;		/* of the series of no process */
	struct clients clients;
	struct counts counts;
	struct kernel_counts kernels;
	struct held held;
	struct gpus gpus;
	struct inflight inflight;
	struct probed probed;
	struct self self;
	struct reader readers[SCRAPERS];
	bool ready;			/* the probes are in */
	unsigned long long collected, checked, swept;	/* when, ns */
};

/* The reader that writes a file, in place of a hash. */
enum { READER_FILE = 1 };

/* Handles a record of the probes. */
void exporter_record(struct exporter *e, const void *data, size_t size);

/* Call when a process has ended or runs another program (session/process.h); ctx is a struct exporter. */
void exporter_on_end(void *ctx, const struct process_event *event);

/* Of struct clients, which also finds ends without records; ctx is a struct exporter. */
void exporter_ended(void *ctx, int pid);

/* Call for a process that has mapped CUDA files. */
void exporter_mapped(struct exporter *e, int pid);

/* Call every few milliseconds: takes what processes that ended have counted. */
void exporter_tick(struct exporter *e);

/* Writes a page; collects first, unless that was done in the last second.  who: the reader, or 0: a page that no
 * Prometheus will see. */
void exporter_page(struct exporter *e, FILE *f, bool openmetrics, unsigned long long who);

void exporter_free(struct exporter *e);

#endif
