/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/cudaexporter.h"
#include "abi/device.h"
#include "abi/launch.h"
#include "api/cuda_err.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "cudaexporter/series.h"
#include "model/graphs.h"
#include "model/memory.h"
#include "probe/probe_source.h"

/* METRIC_INFO: a gauge that is always 1 and exists for its labels. */
enum metric_type { METRIC_COUNTER, METRIC_GAUGE, METRIC_HISTOGRAM, METRIC_INFO };

/* METRIC_NS: nanoseconds, shown as seconds. */
enum metric_unit { METRIC_ONE, METRIC_NS, METRIC_RATIO };

static const struct metric_info {
	const char *name, *labels, *help;
	enum metric_unit unit;
	enum metric_type type;
} metrics[METRIC_MAX] = {
#define METRIC(id, n, u, t, l, h) { .name = n, .labels = l, .help = h, .unit = METRIC_##u, .type = METRIC_##t },
#include "cudaexporter/metrics.def"
#undef METRIC
};

struct histogram {
	unsigned long long sum, buckets[16];
};

/* With the one for larger values. */
static unsigned metric_buckets(enum metric m)
{
	return m == METRIC_COPY_SIZE ? EXPORT_SIZES : EXPORT_TIMES;
}

/* The upper bound of a bucket, in the metric's unit. */
static unsigned long long metric_bound(enum metric m, unsigned bucket)
{
	return m == METRIC_COPY_SIZE ? export_size_bound(bucket) : export_time_bound(bucket);
}

static const char *direction_label(unsigned direction)
{
	static const char *const names[] = { "default", "h2d", "d2h", "d2d", "h2h", "p2p", "default" };

	return direction < sizeof(names) / sizeof(*names) ? names[direction] : "default";
}

static void print_device(FILE *f, unsigned device)
{
	if (device == DEVICE_NONE)
		fputs("device=\"none\",", f);
	else if (!device)
		fputs("device=\"unknown\",", f);
	else
		fprintf(f, "device=\"%u\",", device - 1);
}

static void print_error(FILE *f, enum cuda_lib lib, int code)
{
	char number[CUDA_ERR_NUMBER];

	fprintf(f, "error=\"%s\"", cuda_err_text(lib, code, number));
}

static void print_call(FILE *f, const struct metric_labels *l)
{
	enum cuda_lib lib;
	const char *name = cuda_error_function(l->a, &lib);

	if (!name) {
		fputs("function=\"other\",error=\"other\"", f);
		return;
	}
	fprintf(f, "function=\"%s\",", name);
	print_error(f, lib, l->b);
}

/* device="0",memory="pool": without the labels of the label set. */
static void print_labels(FILE *f, enum metric m, const struct metric_labels *l)
{
	static const char *const groups[EXPORT_GROUPS] = { "alloc", "copy", "launch", "sync", "load" };
	static const char *const kinds[LAUNCH_KIND_MAX] = { "kernel", "cooperative", "graph" };

	switch (m) {
	case METRIC_HELD_BYTES: case METRIC_HELD_COUNT: case METRIC_HELD_PEAK: case METRIC_ALLOCATED_BYTES:
	case METRIC_FREED_BYTES: case METRIC_ALLOCATIONS: case METRIC_FREES:
		print_device(f, l->a);
		fprintf(f, "memory=\"%s\"", memory_name(l->b) ?: "unknown");
		return;
	case METRIC_HANDLES:
		fprintf(f, "kind=\"%s\"", memory_name(l->a));
		return;
	case METRIC_HELD_OLDER:
		print_device(f, l->a);
		fprintf(f, "age=\"%llu\"", l->b);
		return;
	case METRIC_LAUNCHES: case METRIC_LAUNCHES_ESTIMATED:
		print_device(f, l->a);
		fprintf(f, "kind=\"%s\"", l->b < LAUNCH_KIND_MAX ? kinds[l->b] : "kernel");
		return;
	case METRIC_LAUNCHES_PROBED:
		fprintf(f, "probe=\"%s\"", l->a ? "return" : "entry");
		return;
	case METRIC_GRAPH_LAUNCHES:
		fprintf(f, "known=\"%s\"", l->a ? "true" : "false");
		return;
	case METRIC_GRAPH_NODES:
		fprintf(f, "node=\"%s\"", node_kind_name(l->a));
		return;
	case METRIC_CALLS_RUNNING: case METRIC_CALL_RUNNING: case METRIC_PROBE_HITS:
		fprintf(f, "group=\"%s\"", l->a < EXPORT_GROUPS ? groups[l->a] : "alloc");
		return;
	case METRIC_ERRORS:
		print_call(f, l);
		return;
	case METRIC_STICKY_ERRORS:
		print_error(f, l->a, l->b);
		return;
	case METRIC_COPY_SIZE:
		fprintf(f, "direction=\"%s\",async=\"%s\"", direction_label(l->a), l->b ? "true" : "false");
		return;
	case METRIC_COPY_DURATION: case METRIC_COPY_GPU:
		fprintf(f, "direction=\"%s\"", direction_label(l->a));
		return;
	case METRIC_NCCL_OPERATIONS: case METRIC_NCCL_FAILED: case METRIC_NCCL_BYTES:
		fprintf(f, "%s,function=\"%s\"", l->text, l->a < CUDA_ID_MAX ? cuda_fns[l->a].name : "other");
		return;
	case METRIC_SYNC_DURATION:
		if (l->a && l->a <= CUDA_ID_MAX)
			fprintf(f, "function=\"%s\"", cuda_fns[l->a - 1].name);
		return;
	default:
		if (l->text)
			fputs(l->text, f);
	}
}

void series_init(struct series_table *t, size_t limit)
{
	t->quota = (struct quota){
		.limit = 2 * limit, .what = "series", .loss = "further series are not shown",
	};
	for (int m = 0; m < METRIC_MAX; m++)
		TAILQ_INIT(&t->of[m]);
}

/* Returns the number of a series' samples on a page. */
static size_t samples(enum metric m)
{
	return metrics[m].type == METRIC_HISTOGRAM ? metric_buckets(m) + 2 : 1;
}

static void series_drop(struct series *s)
{
	struct series_table *t = s->key.set->table;

	HASH_DEL(t->all, s);
	TAILQ_REMOVE(&t->of[s->key.metric], s, in_metric);
	LIST_REMOVE(s, in_set);
	if (s->key.set->labels)
		quota_give(&t->quota, s->key.set->user, samples(s->key.metric));
	if (metrics[s->key.metric].type == METRIC_HISTOGRAM)
		free(s->h);
	free(s->exemplars);
	free(s->labels);
	free(s);
}

void series_drop_set(struct label_set *set)
{
	while (!LIST_EMPTY(&set->series))
		series_drop(LIST_FIRST(&set->series));
}

void series_free(struct series_table *t)
{
	quota_free(&t->quota);
}

static char *series_labels_of(const struct series_key *key)
{
	const struct metric_labels labels = { key->a, key->b, key->text };
	char *own = NULL, *text;
	size_t size;
	FILE *f = open_memstream(&own, &size);

	if (!f)
		die(errno, "cannot write labels");
	print_labels(f, key->metric, &labels);
	if (fclose(f))
		die(ENOMEM, "cannot write labels");
	if (!key->set->labels || *metrics[key->metric].labels != 'P')
		return own;
	text = xprintf("%s%s%s", key->set->labels, *own ? "," : "", own);
	free(own);
	return text;
}

static struct series *series_new(const struct series_key *key)
{
	struct series_table *t = key->set->table;
	struct series *s;

	/* the few of the exporter have no limit */
	if (key->set->labels && !quota_take(&t->quota, key->set->user, key->set->pid, samples(key->metric))) {
		t->dropped++;
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	s->key = *key;
	s->labels = series_labels_of(key);
	if (metrics[key->metric].type == METRIC_HISTOGRAM)
		s->h = xcalloc(2, sizeof(*s->h));
	HASH_ADD(hh, t->all, key, sizeof(s->key), s);
	TAILQ_INSERT_TAIL(&t->of[key->metric], s, in_metric);
	LIST_INSERT_HEAD(&key->set->series, s, in_set);
	return s;
}

struct series *series_of(struct label_set *set, enum metric m, struct metric_labels labels, bool make)
{
	const struct series_key key = { set, m, labels.a, labels.b, labels.text };
	struct series *s;

	HASH_FIND(hh, set->table->all, &key, sizeof(key), s);
	return s || !make ? s : series_new(&key);
}

void series_remove(struct label_set *set, enum metric m, struct metric_labels labels)
{
	struct series *s = series_of(set, m, labels, false);

	if (s)
		series_drop(s);
}

void series_remove_text(struct series_table *t, enum metric m, const char *text)
{
	struct series *s, *next;

	for (s = TAILQ_FIRST(&t->of[m]); s; s = next) {
		next = TAILQ_NEXT(s, in_metric);
		if (s->key.text == text)
			series_drop(s);
	}
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
			series_drop(s);
}

void series_keep(struct series_table *t, enum metric m)
{
	struct series *s;

	TAILQ_FOREACH(s, &t->of[m], in_metric)
		if (s->key.set->processes)
			s->round = t->round;
}

void series_count(struct label_set *set, enum metric m, struct metric_labels labels, unsigned long long n)
{
	struct series *s = series_of(set, m, labels, true);

	if (s)
		s->ended += n;
}

void series_count_live(struct label_set *set, enum metric m, struct metric_labels labels, unsigned long long n)
{
	struct series *s = series_of(set, m, labels, true);

	if (s)
		s->live += n;
}

void series_observe(struct label_set *set, enum metric m, struct metric_labels labels,
		    const unsigned long long *buckets, unsigned long long sum, bool live)
{
	struct series *s = series_of(set, m, labels, true);
	struct histogram *h = s ? &s->h[live] : NULL;

	if (!h)
		return;
	h->sum += sum;
	for (unsigned i = 0; i < metric_buckets(m); i++)
		h->buckets[i] += buckets[i];
}

void series_exemplify(struct label_set *set, enum metric m, struct metric_labels labels,
		      unsigned bucket, const struct exemplar *e)
{
	struct series *s = series_of(set, m, labels, false);

	if (!s || bucket >= metric_buckets(m))
		return;
	if (!s->exemplars)
		s->exemplars = xcalloc(metric_buckets(m), sizeof(*s->exemplars));
	if (e->time > s->exemplars[bucket].time)
		s->exemplars[bucket] = *e;
}

/* Returns the gauge, reset to 0 if it was not set in this round. */
static struct series *gauge(struct label_set *set, enum metric m, struct metric_labels labels)
{
	struct series *s = series_of(set, m, labels, true);

	if (s && s->round != set->table->round)
		s->live = 0;
	if (s)
		s->round = set->table->round;
	return s;
}

void series_add(struct label_set *set, enum metric m, struct metric_labels labels, long long value)
{
	struct series *s = gauge(set, m, labels);

	if (s)
		s->live += value;
}

void series_max(struct label_set *set, enum metric m, struct metric_labels labels, unsigned long long value)
{
	struct series *s = gauge(set, m, labels);

	if (s && value > s->live)
		s->live = value;
}

void series_min(struct label_set *set, enum metric m, struct metric_labels labels, unsigned long long value)
{
	struct series *s = series_of(set, m, labels, true);
	bool first = s && s->round != set->table->round;

	if (s && (first || value < s->live))
		s->live = value;
	if (s)
		s->round = set->table->round;
}

void series_new_scraper(struct series_table *t, unsigned scraper)
{
	unsigned bit = 1 << scraper;

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

struct page {
	FILE *f;
	bool openmetrics;
	int scraper;
	char bounds[16][32];	/* of the metric's buckets */
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

/* Return true if the scraper has not seen the series, and mark it as seen.  The exporter's series are never new. */
static bool is_new(const struct page *p, struct series *s)
{
	bool is = s->key.set->labels && p->scraper >= 0 && !(s->seen & 1 << p->scraper);

	if (is)
		s->seen |= 1 << p->scraper;
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

/* Follows a bucket's value. */
static void print_exemplar(const struct page *p, enum metric m, const struct exemplar *e)
{
	unsigned long long time = e->time + clock_wall_ns() - clock_ns();

	if (e->id >= CUDA_ID_MAX)
		return;
	fprintf(p->f, " # {tid=\"%u\",function=\"%s\"} ", e->tid, cuda_fns[e->id].name);
	if (metrics[m].unit == METRIC_NS)
		fprintf(p->f, "%llu.%09llu", e->value / 1000000000, e->value % 1000000000);
	else
		fprintf(p->f, "%llu", e->value);
	fprintf(p->f, " %llu.%03llu", time / 1000000000, time / 1000000 % 1000);
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

/* In OpenMetrics, a counter's family has no _total in its name, and an info's no _info. */
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

void page_print(FILE *f, struct series_table *t, bool openmetrics, int scraper)
{
	struct page page = { .f = f, .openmetrics = openmetrics, .scraper = scraper };
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
