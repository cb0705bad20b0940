/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The exporter's metrics about itself: its probes, losses, limits and resources. */
#ifndef CUDAEXPORTER_SELF_H
#define CUDAEXPORTER_SELF_H
#include <stdbool.h>
#include <stdio.h>
#include "abi/lost.h"
#include "api/cuda_api.h"
#include "cudaexporter/memory_metrics.h"

struct probe_budget;
struct bpf_object;
struct elf_probe;
struct function;
struct gpu_time;

enum { SELF_PROGRAMS = 32 };

struct self {
	struct label_set *set;	/* without labels */
	const struct processes *processes;
	const struct memory_metrics *memory;
	const struct gpu_time *gpu;	/* NULL: without --gpu-time */
	struct self_probes {
		const struct bpf_object *obj;
		const unsigned long long *lost;	/* lost[] */
		const unsigned long long (*hits)[8];	/* export_hits */
	} probes;
	bool times;		/* --self-time */
	int stats;		/* descriptor of BPF_ENABLE_STATS */
	char *build;		/* the labels of METRIC_BUILD_INFO */
	unsigned long long started;	/* ns since the epoch */
	char programs[SELF_PROGRAMS][64];	/* the labels of METRIC_BPF_SECONDS */
};

enum { PROBED_LINES = 4096, PROBED_REASONS = 32 };

/* Probed files, and those that could not be probed. */
struct probed {			/* starts zeroed, except for kind: how probes are attached */
	const char *kind;
	unsigned long long in[CUDA_LIBS];	/* functions, by enum cuda_lib */
	struct probed_reason {
		const char *why;
		char *labels;
		unsigned long long n;
	} reasons[PROBED_REASONS];	/* the last one: all further ones */
	char *labels[CUDA_LIBS];
	char **lines;		/* the last PROBED_LINES … */
	unsigned nlines;	/* … of so many */
};

/* Call when the programs are loaded, and times and gpu are set.  Exits if the kernel refuses --self-time. */
void self_open(struct self *s, struct label_set *set, const struct processes *processes, const struct memory_metrics *memory,
	       const struct self_probes *probes);

/* Call in a round. */
void self_budget(struct self *s, const struct probe_budget *b);

/* Call last in a round, which has taken ns so far. */
void self_collect(struct self *s, unsigned long long ns);

void self_close(struct self *s);

/* For the callbacks of struct session. */
void probed_function(struct probed *p, const char *path, const struct function *fn, const struct elf_probe *probe,
		     const char *skipped);
void probed_file(struct probed *p, const char *path, const char *why);

/* Call in a round. */
void probed_collect(struct probed *p, struct label_set *set);

/* Writes the page of /probes: the lines of --list, the last PROBED_LINES of them. */
void probed_print(const struct probed *p, FILE *f);

void probed_free(struct probed *p);

#endif
