/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cudaexporter/series.h"

void series_init(struct series_table *t, size_t limit)
{
	t->quota = (struct quota){
		.limit = 2 * limit, .what = "series", .loss = "further series are not shown",
	};
	for (int m = 0; m < METRIC_MAX; m++)
		TAILQ_INIT(&t->of[m]);
}

/* How many samples it is on a page. */
static size_t samples(enum metric m)
{
	return metrics[m].type == METRIC_HISTOGRAM ? metric_buckets(m) + 2 : 1;
}

static void drop(struct series_table *t, struct series *s)
{
	HASH_DEL(t->all, s);
	TAILQ_REMOVE(&t->of[s->key.metric], s, in_metric);
	LIST_REMOVE(s, in_owner);
	if (s->key.owner->labels)
		quota_give(&t->quota, s->key.owner->user, samples(s->key.metric));
	if (metrics[s->key.metric].type == METRIC_HISTOGRAM)
		free(s->h);
	free(s->exemplars);
	free(s->labels);
	free(s);
}

void series_drop_owner(struct series_table *t, struct owner *owner)
{
	while (!LIST_EMPTY(&owner->series))
		drop(t, LIST_FIRST(&owner->series));
}

void series_free(struct series_table *t)
{
	quota_free(&t->quota);
}

/* Returns the labels of the metric alone; the caller frees it. */
static char *own_labels(const struct series_key *key)
{
	const struct metric_labels labels = { key->a, key->b };
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(errno, "cannot write labels");
	metric_labels_print(f, key->metric, &labels);
	if (fclose(f))
		die(ENOMEM, "cannot write labels");
	return text;
}

static char *labels_of(const struct series_key *key)
{
	char *own = own_labels(key), *text;

	if (!key->owner->labels || *metrics[key->metric].labels != 'P')
		return own;
	text = xprintf("%s%s%s", key->owner->labels, *own ? "," : "", own);
	free(own);
	return text;
}

static struct series *add(struct series_table *t, const struct series_key *key)
{
	struct series *s;

	/* the exporter's own are few */
	if (key->owner->labels && !quota_take(&t->quota, key->owner->user, key->owner->pid, samples(key->metric))) {
		t->dropped++;
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	s->key = *key;
	s->labels = labels_of(key);
	if (metrics[key->metric].type == METRIC_HISTOGRAM)
		s->h = xcalloc(2, sizeof(*s->h));
	HASH_ADD(hh, t->all, key, sizeof(s->key), s);
	TAILQ_INSERT_TAIL(&t->of[key->metric], s, in_metric);
	LIST_INSERT_HEAD(&key->owner->series, s, in_owner);
	return s;
}

struct series *series_of(struct series_table *t, struct owner *owner, enum metric m,
			 struct metric_labels labels, bool make)
{
	const struct series_key key = { owner, m, labels.a, labels.b };
	struct series *s;

	HASH_FIND(hh, t->all, &key, sizeof(key), s);
	return s || !make ? s : add(t, &key);
}

void series_remove(struct series_table *t, struct owner *owner, enum metric m, struct metric_labels labels)
{
	struct series *s = series_of(t, owner, m, labels, false);

	if (s)
		drop(t, s);
}

void series_begin(struct series_table *t)
{
	struct series *s;

	t->round++;
	for (s = t->all; s; s = s->hh.next) {
		if (metrics[s->key.metric].type == METRIC_COUNTER)
			s->live = 0;
		else if (metrics[s->key.metric].type == METRIC_HISTOGRAM)
			memset(&s->h[1], 0, sizeof(s->h[1]));
	}
}

static bool is_gauge(const struct series *s)
{
	return metrics[s->key.metric].type == METRIC_GAUGE || metrics[s->key.metric].type == METRIC_INFO;
}

void series_end(struct series_table *t)
{
	struct series *s, *next;

	HASH_ITER(hh, t->all, s, next)
		if (is_gauge(s) && s->round != t->round)
			drop(t, s);
}

void series_keep(struct series_table *t, enum metric m)
{
	struct series *s;

	TAILQ_FOREACH(s, &t->of[m], in_metric)
		if (s->key.owner->processes)
			s->round = t->round;
}

void series_count(struct series_table *t, struct owner *owner, enum metric m, struct metric_labels labels,
		  unsigned long long n)
{
	struct series *s = series_of(t, owner, m, labels, true);

	if (s)
		s->ended += n;
}

void series_count_live(struct series_table *t, struct owner *owner, enum metric m,
		       struct metric_labels labels, unsigned long long n)
{
	struct series *s = series_of(t, owner, m, labels, true);

	if (s)
		s->live += n;
}

void series_observe(struct series_table *t, struct owner *owner, enum metric m, struct metric_labels labels,
		    const unsigned long long *buckets, unsigned long long sum, bool live)
{
	struct series *s = series_of(t, owner, m, labels, true);
	struct histogram *h = s ? &s->h[live] : NULL;

	if (!h)
		return;
	h->sum += sum;
	for (unsigned i = 0; i < metric_buckets(m); i++)
		h->buckets[i] += buckets[i];
}

void series_exemplify(struct series_table *t, struct owner *owner, enum metric m, struct metric_labels labels,
		      unsigned bucket, const struct exemplar *e)
{
	struct series *s = series_of(t, owner, m, labels, false);

	if (!s || bucket >= metric_buckets(m))
		return;
	if (!s->exemplars)
		s->exemplars = xcalloc(metric_buckets(m), sizeof(*s->exemplars));
	if (e->time > s->exemplars[bucket].time)
		s->exemplars[bucket] = *e;
}

/* The gauge, 0 if it was not set in this round. */
static struct series *gauge(struct series_table *t, struct owner *owner, enum metric m,
			    struct metric_labels labels)
{
	struct series *s = series_of(t, owner, m, labels, true);

	if (s && s->round != t->round)
		s->live = 0;
	if (s)
		s->round = t->round;
	return s;
}

void series_add(struct series_table *t, struct owner *owner, enum metric m, struct metric_labels labels,
		long long value)
{
	struct series *s = gauge(t, owner, m, labels);

	if (s)
		s->live += value;
}

void series_max(struct series_table *t, struct owner *owner, enum metric m, struct metric_labels labels,
		unsigned long long value)
{
	struct series *s = gauge(t, owner, m, labels);

	if (s && value > s->live)
		s->live = value;
}

void series_new_reader(struct series_table *t, unsigned reader)
{
	unsigned bit = 1 << reader;

	for (struct series *s = t->all; s; s = s->hh.next)
		s->seen = s->seen & ~bit ? s->seen | bit : 0;
}

unsigned long long series_samples(const struct series_table *t)
{
	unsigned long long n = 0;

	for (const struct series *s = t->all; s; s = s->hh.next)
		n += samples(s->key.metric);
	return n;
}
