/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "api/cuda_fn.h"
#include "cudaexporter/page.h"

struct page {
	FILE *f;
	bool openmetrics;
	int reader;
};

static void print_value(FILE *f, enum metric m, long long value)
{
	unsigned long long v = value < 0 ? -(unsigned long long)value : (unsigned long long)value;

	if (metrics[m].unit == METRIC_ONE)
		fprintf(f, metrics[m].type == METRIC_GAUGE ? "%lld\n" : "%llu\n", value);
	else
		fprintf(f, "%s%llu.%09llu\n", metrics[m].type == METRIC_GAUGE && value < 0 ? "-" : "",
			v / 1000000000, v % 1000000000);
}

static void print_name(const struct page *p, const struct series *s, const char *suffix)
{
	fprintf(p->f, "%s%s", metrics[s->key.metric].name, suffix);
	if (*s->labels)
		fprintf(p->f, "{%s}", s->labels);
	fputc(' ', p->f);
}

/* Return true if the reader has not seen the series; it has then.  The exporter's own are there from the start. */
static bool is_new(const struct page *p, struct series *s)
{
	bool is = s->key.owner->labels && p->reader >= 0 && !(s->seen & 1 << p->reader);

	if (is)
		s->seen |= 1 << p->reader;
	return is;
}

static void print_bound(const struct page *p, enum metric m, unsigned bucket)
{
	unsigned long long bound = metric_bound(m, bucket);

	if (bucket == metric_buckets(m) - 1)
		fputs("le=\"+Inf\"} ", p->f);
	else if (metrics[m].unit == METRIC_NS)
		fprintf(p->f, "le=\"%.12g\"} ", bound / 1e9);
	else
		fprintf(p->f, p->openmetrics ? "le=\"%llu.0\"} " : "le=\"%llu\"} ", bound);
}

/* What follows a bucket's value. */
static void print_exemplar(const struct page *p, enum metric m, const struct exemplar *e)
{
	if (e->id >= CUDA_ID_MAX)
		return;
	fprintf(p->f, " # {tid=\"%u\",function=\"%s\"} ", e->tid, cuda_fns[e->id].name);
	if (metrics[m].unit == METRIC_NS)
		fprintf(p->f, "%llu.%09llu", e->value / 1000000000, e->value % 1000000000);
	else
		fprintf(p->f, "%llu", e->value);
	fprintf(p->f, " %llu.%03llu", e->time / 1000000000, e->time / 1000000 % 1000);
}

static void print_histogram(const struct page *p, struct series *s)
{
	enum metric m = s->key.metric;
	const struct histogram *h = s->h;
	unsigned long long count = 0;
	bool zero = is_new(p, s);

	for (unsigned i = 0; i < metric_buckets(m); i++) {
		count += zero ? 0 : h[0].buckets[i] + h[1].buckets[i];
		fprintf(p->f, "%s_bucket{%s%s", metrics[m].name, s->labels, *s->labels ? "," : "");
		print_bound(p, m, i);
		fprintf(p->f, "%llu", count);
		if (p->openmetrics && !zero && s->exemplars && s->exemplars[i].time)
			print_exemplar(p, m, &s->exemplars[i]);
		fputc('\n', p->f);
	}
	print_name(p, s, "_sum");
	print_value(p->f, m, zero ? 0 : h[0].sum + h[1].sum);
	print_name(p, s, "_count");
	fprintf(p->f, "%llu\n", count);
}

static void print_series(const struct page *p, struct series *s)
{
	enum metric m = s->key.metric;

	switch (metrics[m].type) {
	case METRIC_HISTOGRAM:
		print_histogram(p, s);
		break;
	case METRIC_COUNTER:
		print_name(p, s, "");
		print_value(p->f, m, is_new(p, s) ? 0 : s->ended + s->live);
		break;
	default:
		print_name(p, s, "");
		print_value(p->f, m, s->live);
	}
}

/* OpenMetrics names a family of counters without _total, and one of info without _info. */
static void print_head(const struct page *p, enum metric m)
{
	static const char *const types[] = { "counter", "gauge", "histogram", "info" };
	const struct metric_info *i = &metrics[m];
	size_t len = strlen(i->name);

	if (p->openmetrics && i->type == METRIC_COUNTER)
		len -= strlen("_total");
	if (p->openmetrics && i->type == METRIC_INFO)
		len -= strlen("_info");
	fprintf(p->f, "# HELP %.*s %s\n# TYPE %.*s %s\n", (int)len, i->name, i->help, (int)len, i->name,
		p->openmetrics || i->type != METRIC_INFO ? types[i->type] : "gauge");
}

void page_print(FILE *f, struct series_table *t, bool openmetrics, int reader)
{
	const struct page page = { f, openmetrics, reader };
	struct series *s;

	for (int m = 0; m < METRIC_MAX; m++) {
		if (TAILQ_EMPTY(&t->of[m]))
			continue;
		print_head(&page, m);
		TAILQ_FOREACH(s, &t->of[m], in_metric)
			print_series(&page, s);
	}
	if (openmetrics)
		fputs("# EOF\n", f);
}
