/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the exporter says of itself. */
#ifndef SELF_H
#define SELF_H
#include <stdbool.h>
#include "abi/lost.h"
#include "cudaexporter/clients.h"

struct bpf_object;

enum { SELF_PROGRAMS = 32 };

struct self {			/* set the first ones */
	struct owner *owner;	/* without labels */
	struct series_table *table;
	const struct clients *clients;
	const struct bpf_object *obj;
	const unsigned long long *lost;	/* the probes' lost[] */
	const unsigned long long *ignored;	/* allocations that are not followed */
	const unsigned long long (*hits)[8];	/* export_hits */
	bool times;		/* --self-time */
	int stats;		/* descriptor of BPF_ENABLE_STATS */
	char *build;		/* the labels of METRIC_BUILD_INFO */
	unsigned long long started;	/* ns since the epoch */
	char programs[SELF_PROGRAMS][64];	/* the labels of METRIC_BPF_SECONDS */
};

/* Call when the programs are loaded.  Exits if --self-time is set and the kernel refuses it. */
void self_open(struct self *s);

/* Call last in a round, which has taken ns so far. */
void self_collect(struct self *s, unsigned long long ns);

void self_close(struct self *s);

#endif
