/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "api/cuda_fn.h"
#include "cudaexporter/page.h"

struct page {
	FILE *f;
	bool openmetrics;
	int reader;
	char bounds[16][32];	/* of the metric's buckets: all its series have the same */
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
	fputs(metrics[s->key.metric].name, p->f);
	fputs(suffix, p->f);
	if (*s->labels) {
		fputc('{', p->f);
		fputs(s->labels, p->f);
		fputc('}', p->f);
	}
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

static void set_bounds(struct page *p, enum metric m)
{
	unsigned last = metric_buckets(m) - 1;
	const size_t size = sizeof(p->bounds[0]);

	for (unsigned i = 0; i < last; i++) {
		if (metrics[m].unit == METRIC_NS)
			snprintf(p->bounds[i], size, "le=\"%.12g\"} ", metric_bound(m, i) / 1e9);
		else
			snprintf(p->bounds[i], size, "le=\"%llu%s\"} ", metric_bound(m, i), p->openmetrics ? ".0" : "");
	}
	snprintf(p->bounds[last], size, "le=\"+Inf\"} ");
}

static void print_bucket(const struct page *p, const struct series *s, unsigned i, unsigned long long count)
{
	fputs(metrics[s->key.metric].name, p->f);
	fputs("_bucket{", p->f);
	fputs(s->labels, p->f);
	if (*s->labels)
		fputc(',', p->f);
	fputs(p->bounds[i], p->f);
	fprintf(p->f, "%llu", count);
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
		print_bucket(p, s, i, count);
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
	struct page page = { .f = f, .openmetrics = openmetrics, .reader = reader };
	struct series *s;

	for (int m = 0; m < METRIC_MAX; m++) {
		if (TAILQ_EMPTY(&t->of[m]))
			continue;
		print_head(&page, m);
		if (metrics[m].type == METRIC_HISTOGRAM)
			set_bounds(&page, m);
		TAILQ_FOREACH(s, &t->of[m], in_metric)
			print_series(&page, s);
	}
	if (openmetrics)
		fputs("# EOF\n", f);
}
