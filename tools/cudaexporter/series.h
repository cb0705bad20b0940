/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The metrics that metrics.def declares, their series, and the page that shows them.  Series are collected in rounds:
 * each round replaces the values of the one before. */
#ifndef CUDAEXPORTER_SERIES_H
#define CUDAEXPORTER_SERIES_H
#include <stdbool.h>
#include <stdio.h>
#include <sys/queue.h>
#include "base/hash.h"
#include "base/quota.h"

enum metric {
#define METRIC(id, name, unit, type, labels, help) METRIC_##id,
#include "cudaexporter/metrics.def"
#undef METRIC
	METRIC_MAX
};

/* Key of a series among the others of its metric and label set, by the labels of the metric:
 * device,memory: a as in abi/device.h, b an enum cuda_memory     device,age: b in seconds
 * device,kind: b an enum launch_kind                             group: a an enum export_group
 * probe: a 0 for the entry, 1 for the return
 * kind: a an enum cuda_memory
 * known: a 0 or 1                                                node: a an enum node_kind
 * function,error: a an id of cuda_error_source(), b the error; a METRIC_OTHER: "other" both
 * error: a an enum cuda_lib, b the error                         function: a an enum cuda_id + 1, or 0: all
 * direction,async: a an enum cuda_direction, b 0 or 1            direction: a likewise
 * communicator,rank,nranks,function: text, and a an enum cuda_id
 * any others: text, the labels as they are printed; equal text at another address is another series.  The text must
 * outlive the series. */
struct metric_labels {
	unsigned a;
	unsigned long long b;
	const char *text;
};

#define METRIC_OTHER	(~0u)

static inline struct metric_labels metric_labels(unsigned a, unsigned long long b)
{
	return (struct metric_labels){ .a = a, .b = b };
}

static inline struct metric_labels metric_text(const char *text)
{
	return (struct metric_labels){ .text = text };
}

/* Scrapers whose pages are tracked: see page_print(). */
enum { SCRAPERS = 8 };

struct series;
struct series_table;
LIST_HEAD(series_list, series);
TAILQ_HEAD(series_queue, series);

/* The processes with the same labels or, without labels, the exporter. */
struct label_set {
	struct series_table *table;
	char *labels;			/* as they are printed */
	unsigned user;			/* charged for its series */
	int pid;			/* of one process, for a message */
	unsigned processes;		/* alive */
	unsigned members;		/* processes alive, or with counts still to be read */
	bool other;			/* the set of all processes over the limit: charged to no user */
	unsigned long long ended;	/* when its last process ended, ns; 0: some live */
	unsigned char pages[SCRAPERS];	/* that each scraper got since then */
	unsigned errors;		/* its series of METRIC_ERRORS */
	struct series_list series;
	UT_hash_handle hh;
};

/* The last call that fell into a bucket. */
struct exemplar {
	unsigned long long value;	/* in the metric's unit */
	unsigned long long time;	/* clock_ns(); 0: no exemplar */
	unsigned tid, id;		/* id: enum cuda_id */
};

/* A counter's value is the sum of what ended and live programs counted. */
struct series {
	struct series_key {
		struct label_set *set;
		unsigned metric, a;	/* enum metric; then as in struct metric_labels */
		unsigned long long b;
		const char *text;
	} key;
	char *labels;			/* with those of the label set, as they are printed */
	union {
		struct { unsigned long long ended, live; };
		struct histogram *h;	/* two: ended, live */
	};
	struct exemplar *exemplars;	/* of each bucket, or NULL */
	unsigned round;			/* when a gauge was last set */
	unsigned char seen;		/* 1 << n: by scraper n */
	LIST_ENTRY(series) in_set;
	TAILQ_ENTRY(series) in_metric;
	UT_hash_handle hh;
};

struct series_table {
	struct series *all;
	struct series_queue of[METRIC_MAX];
	struct quota quota;		/* of samples on a page, by user */
	unsigned round;
	unsigned long long dropped;	/* series over the limit */
};

/* limit: the most series of one user's processes; all users may have twice as many. */
void series_init(struct series_table *t, size_t limit);

/* Call when the label sets have been freed, with their series. */
void series_free(struct series_table *t);

/* Returns the series, added if make is set; NULL if it does not exist or is over the limit. */
struct series *series_of(struct label_set *set, enum metric m, struct metric_labels labels, bool make);

/* Begin a round: sets the counts of live programs to 0 and marks gauges as not set; end it: removes the gauges that
 * are still not set. */
void series_begin(struct series_table *t);
void series_end(struct series_table *t);

/* Keeps a metric's gauges as they are in this round, if processes of their label sets live. */
void series_keep(struct series_table *t, enum metric m);

/* Add to a counter: permanently, or until the next round. */
void series_count(struct label_set *set, enum metric m, struct metric_labels labels, unsigned long long n);
void series_count_live(struct label_set *set, enum metric m, struct metric_labels labels, unsigned long long n);

/* Adds to a histogram, likewise. */
void series_observe(struct label_set *set, enum metric m, struct metric_labels labels,
		    const unsigned long long *buckets, unsigned long long sum, bool live);

/* Keeps the exemplar of a bucket, if the histogram exists and has no later one. */
void series_exemplify(struct label_set *set, enum metric m, struct metric_labels labels,
		      unsigned bucket, const struct exemplar *e);

/* Set a gauge to the sum, the maximum or the minimum of the values given in a round. */
void series_add(struct label_set *set, enum metric m, struct metric_labels labels, long long value);
void series_max(struct label_set *set, enum metric m, struct metric_labels labels, unsigned long long value);
void series_min(struct label_set *set, enum metric m, struct metric_labels labels, unsigned long long value);

/* Remove a series, if it exists; all series of a label set; all series of a metric with this text. */
void series_remove(struct label_set *set, enum metric m, struct metric_labels labels);
void series_drop_set(struct label_set *set);
void series_remove_text(struct series_table *t, enum metric m, const char *text);

/* Call when a scraper's number goes to another one.  The new scraper has seen each series that some other has: it may
 * be an old Prometheus with a new address. */
void series_new_scraper(struct series_table *t, unsigned scraper);

/* Returns the number of their samples on a page. */
unsigned long long series_samples(const struct series_table *t);

/* Writes a page in Prometheus's text format 0.0.4 or OpenMetrics 1.0.  scraper: less than SCRAPERS, or -1.  A counter
 * begins at 0 for each scraper, whatever its value, unless another scraper saw it before this one came: increase() of a
 * counter that appears at 5 is 0, and of one that goes from 0 to 5 it is 5. */
void page_print(FILE *f, struct series_table *t, bool openmetrics, int scraper);

#endif
