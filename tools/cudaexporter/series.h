/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The series of a page, by who they are of.  Collected in rounds: in each, what is true now replaces what was. */
#ifndef SERIES_H
#define SERIES_H
#include <stdbool.h>
#include <sys/queue.h>
#include "base/hash.h"
#include "base/quota.h"
#include "cudaexporter/metric.h"

/* Readers whose pages are told apart: see series_page(). */
enum { SCRAPERS = 8 };

struct series;
LIST_HEAD(series_list, series);
TAILQ_HEAD(series_queue, series);

/* Processes with the same labels, or (with no labels) the exporter. */
struct owner {
	char *labels;			/* as they are printed */
	unsigned user;			/* who is charged for its series */
	int pid;			/* of one of them, for a message */
	unsigned processes;		/* that live */
	unsigned clients;		/* of these, and of those whose last counts are still to be read */
	bool other;			/* it is the one of those that are too many: nobody is charged */
	unsigned long long ended;	/* when the last one ended, ns; 0: some live */
	unsigned char pages[SCRAPERS];	/* that each reader got since then */
	unsigned errors;		/* its series of METRIC_ERRORS */
	struct series_list series;
	UT_hash_handle hh;
};

struct histogram {
	unsigned long long sum, buckets[16];
};

/* A call that fell into a bucket: the last one. */
struct exemplar {
	unsigned long long value;	/* in the metric's unit */
	unsigned long long time;	/* ns since the epoch; 0: there is none */
	unsigned tid, id;		/* id: enum cuda_id */
};

/* A counter's value is what programs that ended have counted, and what those that live have. */
struct series {
	struct series_key {
		struct owner *owner;
		unsigned metric, a;	/* enum metric; struct metric_labels */
		unsigned long long b;
	} key;
	char *labels;			/* with those of the owner, as they are printed */
	union {
		struct { unsigned long long ended, live; };
		struct { struct histogram *h; };	/* two: ended, live */
	};
	struct exemplar *exemplars;	/* of each bucket, or NULL */
	unsigned round;			/* a gauge was set in */
	unsigned char seen;		/* 1 << n: by reader n */
	LIST_ENTRY(series) in_owner;
	TAILQ_ENTRY(series) in_metric;
	UT_hash_handle hh;
};

struct series_table {
	struct series *all;
	struct series_queue of[METRIC_MAX];
	struct quota quota;		/* of samples on a page, by user */
	unsigned round;
	unsigned long long dropped;	/* series that there was no room for */
};

/* Call first.  limit: the most series of one user's processes; all users may have twice as many. */
void series_init(struct series_table *t, size_t limit);

/* Frees all of them; their owners go first. */
void series_free(struct series_table *t);

/* Returns the series; NULL if there is none and, if make is set, no room for it. */
struct series *series_of(struct series_table *t, struct owner *owner, enum metric m,
			 struct metric_labels labels, bool make);

/* Begin a round: what counters of programs that live have counted is 0, and gauges are not set; end it: gauges
 * that were not set are removed. */
void series_begin(struct series_table *t);
void series_end(struct series_table *t);

/* Keeps the gauges of a metric as they are in this round, if their owners live. */
void series_keep(struct series_table *t, enum metric m);

/* Add to a counter: for good, or until the next round. */
void series_count(struct series_table *t, struct owner *owner, enum metric m, struct metric_labels labels,
		  unsigned long long n);
void series_count_live(struct series_table *t, struct owner *owner, enum metric m,
		       struct metric_labels labels, unsigned long long n);

/* Adds to a histogram, likewise. */
void series_observe(struct series_table *t, struct owner *owner, enum metric m, struct metric_labels labels,
		    const unsigned long long *buckets, unsigned long long sum, bool live);

/* Keeps the exemplar of a bucket, if the histogram exists and has no later one. */
void series_exemplify(struct series_table *t, struct owner *owner, enum metric m, struct metric_labels labels,
		      unsigned bucket, const struct exemplar *e);

/* Set a gauge, to the sum or the greatest of what is given in a round. */
void series_add(struct series_table *t, struct owner *owner, enum metric m, struct metric_labels labels,
		long long value);
void series_max(struct series_table *t, struct owner *owner, enum metric m, struct metric_labels labels,
		unsigned long long value);

/* Removes a series, if there is one. */
void series_remove(struct series_table *t, struct owner *owner, enum metric m, struct metric_labels labels);

/* Removes the series of an owner. */
void series_drop_owner(struct series_table *t, struct owner *owner);

/* Call when a number is given to another reader.  What any has seen does not begin again for it: an old Prometheus may
 * have a new address. */
void series_new_reader(struct series_table *t, unsigned reader);

/* Returns how many samples they are on a page. */
unsigned long long series_samples(const struct series_table *t);

#endif
