/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "base/die.h"
#include "cli/opt.h"
#include "cudaexporter/kernel_counts.h"
#include "cudaexporter/profiles.h"
#include "cudaexporter/label_sets.h"
#include "model/launches.h"
#include "sym/syms.h"

/* FNV-1a, because base/hash.h's differs between runs. */
static unsigned hash(const char *text)
{
	unsigned h = 2166136261u;

	for (; *text; text++)
		h = (h ^ (unsigned char)*text) * 16777619u;
	return h;
}

/* Drops the brackets opened since the last parenthesis, and that. */
static int close_parenthesis(const char *open, int n)
{
	while (n && open[n - 1] == '<')
		n--;
	return n ? n - 1 : 0;
}

/* Returns the end of the arguments that begin at text[0] = '<', or NULL.  In parentheses, '>' may be an operator. */
static const char *arguments_end(const char *text)
{
	char open[256];
	int n = 0;

	do {
		if (*text == '<' || *text == '(')
			open[n++] = *text;
		else if (*text == ')')
			n = close_parenthesis(open, n);
		else if (*text == '>' && text[-1] != '-' && open[n - 1] == '<')
			n--;
	} while (*text++ && n && n < (int)sizeof(open));
	return !n && text[-1] == '>' ? text : NULL;
}

/* Return true if arguments of a template begin here, not "operator<" or "<lambda". */
static bool is_arguments(const char *name, const char *at)
{
	static const char word[] = "operator";
	size_t before = at - name;

	if (*at != '<' || !before || !(isalnum((unsigned char)at[-1]) || at[-1] == '_'))
		return false;
	return before < sizeof(word) - 1 || strncmp(at - (sizeof(word) - 1), word, sizeof(word) - 1);
}

static char *without_arguments(const char *name)
{
	char *text = xcalloc(strlen(name) + 1, 1), *to = text;
	bool ends = true;	/* the last arguments did: avoids reading to the end for each '<' */

	for (const char *at = name; *at; ) {
		const char *end = ends && is_arguments(name, at) ? arguments_end(at) : NULL;

		ends = ends && (end || !is_arguments(name, at));
		if (end)
			at = end;
		else
			*to++ = *at++;
	}
	return text;
}

static void truncate_label(char label[KERNEL_LABEL_SIZE], const char *text)
{
	size_t n = strlen(text);

	if (n <= KERNEL_LABEL_TEXT) {
		memcpy(label, text, n + 1);
		return;
	}
	for (n = KERNEL_LABEL_TEXT; n > KERNEL_LABEL_TEXT - 4 && (text[n] & 0xc0) == 0x80; n--)
		;
	snprintf(label, KERNEL_LABEL_SIZE, "%.*s#%08x", (int)n, text, hash(text));
}

void kernel_label(char label[KERNEL_LABEL_SIZE], const struct kernel *kernel, int style)
{
	char *text = style < 0 ? without_arguments(kernel->brief) : NULL;

	truncate_label(label, text ?: kernel_called(kernel, style));
	free(text);
}

/* Programs choose the names.  Matching "\1" can take exponential time; everything else takes time proportional to the
 * name's length. */
static void refuse_references(const char *expression, const char *text)
{
	for (const char *at = expression; (at = strchr(at, '\\')) && at[1]; at += 2)
		if (at[1] >= '1' && at[1] <= '9')
			usage_error("--kernel-map %s: \\%c is not supported: matching it could hang", text, at[1]);
}

void label_map_add(struct label_map *map, const char *text)
{
	const char *equal = strrchr(text, '=');
	struct kernel_rule rule;
	char *expression, why[128];
	int err;

	if (!equal || equal == text || !equal[1])
		usage_error("--kernel-map %s: expected RE=NAME", text);
	if (strlen(equal + 1) > KERNEL_LABEL_TEXT)
		usage_error("--kernel-map %s: the name has more than %d bytes", text, KERNEL_LABEL_TEXT);
	expression = xstrdup(text);
	expression[equal - text] = 0;
	refuse_references(expression, text);
	err = regcomp(&rule.expression, expression, REG_EXTENDED | REG_NOSUB);
	free(expression);
	if (err) {
		regerror(err, &rule.expression, why, sizeof(why));
		usage_error("--kernel-map %s: %s", text, why);
	}
	rule.name = equal + 1;
	map->rules = xrealloc(map->rules, map->n + 1, sizeof(*map->rules));
	map->rules[map->n++] = rule;
}

void label_map_free(struct label_map *map)
{
	for (size_t i = 0; i < map->n; i++)
		regfree(&map->rules[i].expression);
	free(map->rules);
	*map = (struct label_map){ 0 };
}

const char *label_map_find(const struct label_map *map, const char *full)
{
	for (size_t i = 0; i < map->n; i++)
		if (!regexec(&map->rules[i].expression, full, 0, NULL, 0))
			return map->rules[i].name;
	return NULL;
}

static struct kernel_text *kernel_counts_add(struct kernel_naming *n, const char *labels, unsigned user, int pid)
{
	size_t size = strlen(labels) + 1, cost = sizeof(struct kernel_text) + size + 64;
	struct kernel_text *text;

	if (!quota_take(&n->quota, user, pid, cost))
		return NULL;
	text = xcalloc(1, sizeof(*text) + size);
	text->user = user;
	text->cost = cost;
	memcpy(text->labels, labels, size);
	HASH_ADD_KEYPTR(hh, n->texts, text->labels, size - 1, text);
	return text;
}

/* Returns the text of a name, with one use more; NULL if the user's quota is full. */
static struct kernel_text *text_get(struct kernel_naming *n, const char *name, unsigned user, int pid)
{
	char *labels = label_text("kernel", name);	/* two names may look the same when escaped */
	struct kernel_text *text;

	HASH_FIND_STR(n->texts, labels, text);
	if (!text)
		text = kernel_counts_add(n, labels, user, pid);
	if (text)
		text->uses++;
	free(labels);
	return text;
}

static void kernel_counts_drop(struct kernel_naming *n, struct kernel_text *text)
{
	HASH_DEL(n->texts, text);
	quota_give(&n->quota, text->user, text->cost);
	free(text);
}

void kernel_naming_init(struct kernel_naming *n)
{
	n->other = text_get(n, "other", 0, 0);
}

void kernel_naming_reap(struct kernel_naming *n, const struct series_table *table)
{
	struct kernel_text *text, *next;
	const struct series *s;

	for (text = n->texts; text; text = text->hh.next)
		text->shown = false;
	TAILQ_FOREACH(s, &table->of[METRIC_KERNEL_LAUNCHES], in_metric) {
		HASH_FIND_STR(n->texts, s->key.text, text);
		text->shown = true;
	}
	HASH_ITER(hh, n->texts, text, next)
		if (!text->uses && !text->shown)
			kernel_counts_drop(n, text);
}

void kernel_naming_free(struct kernel_naming *n)
{
	struct kernel_text *text, *next;

	HASH_ITER(hh, n->texts, text, next)
		kernel_counts_drop(n, text);
	label_map_free(&n->map);
	quota_free(&n->quota);
	budget_free(&n->time);
}

/* Kernels with the same label. */
struct kernel_name {
	struct kernel_text *text;
	unsigned long long launches;	/* by the program, ever */
	unsigned long long new;		/* of those, since they were last shown */
	unsigned long long ns;		/* on the GPU, since they were last shown */
	bool named;			/* has a series */
	UT_hash_handle hh;
};

struct kernel_called {
	const struct kernel *kernel;	/* with a reference */
	struct kernel_name *name;
	UT_hash_handle hh;
};

/* Bytes, with the place in the table. */
enum { CALLED_COST = sizeof(struct kernel_called) + 64, NAME_COST = sizeof(struct kernel_name) + 64 };

/* Takes over one use of the text. */
static struct kernel_name *name_of(struct kernel_naming *n, struct kernel_execution *p, struct kernel_text *text)
{
	struct kernel_name *name;

	HASH_FIND_PTR(p->names, &text, name);
	if (name || !quota_take(&n->quota, p->user, p->pid, NAME_COST)) {
		text->uses--;
		return name;
	}
	name = xcalloc(1, sizeof(*name));
	name->text = text;
	HASH_ADD_PTR(p->names, text, name);
	return name;
}

static struct kernel_text *kernel_counts_text_of(struct kernel_naming *n, const struct kernel_execution *p,
				   const struct kernel *kernel)
{
	const char *mapped = label_map_find(&n->map, kernel->full);
	char label[KERNEL_LABEL_SIZE];

	if (!mapped)
		kernel_label(label, kernel, n->style);
	return text_get(n, mapped ?: label, p->user, p->pid);
}

static struct kernel_name *add_called(struct kernel_naming *n, struct kernel_execution *p, const struct kernel *kernel)
{
	struct kernel_called *called;
	struct kernel_text *text;
	struct kernel_name *name;

	if (!quota_take(&n->quota, p->user, p->pid, CALLED_COST))
		return NULL;
	text = kernel_counts_text_of(n, p, kernel);
	name = text ? name_of(n, p, text) : NULL;
	if (!name) {
		quota_give(&n->quota, p->user, CALLED_COST);
		return NULL;
	}
	called = xcalloc(1, sizeof(*called));
	called->kernel = kernel_get(kernel);
	called->name = name;
	HASH_ADD_PTR(p->called, kernel, called);
	return name;
}

/* Returns NULL if the user's quota or the time is used up. */
static struct kernel_name *call(struct kernel_naming *n, struct kernel_execution *p, const struct kernel *kernel)
{
	struct kernel_called *called;
	struct kernel_name *name;
	unsigned long long now;

	HASH_FIND_PTR(p->called, &kernel, called);
	if (called)
		return called->name;
	now = clock_ns();
	if (now > n->until || !budget_left(&n->time, p->user, now))
		return NULL;
	name = add_called(n, p, kernel);
	budget_charge(&n->time, p->user, clock_ns() - now);
	return name;
}

void kernel_execution_count(struct kernel_naming *n, struct kernel_execution *p, const struct kernel *kernel,
			  unsigned long long launches)
{
	struct kernel_name *name = kernel ? call(n, p, kernel) : NULL;

	p->changed = true;
	if (!name) {
		p->other += launches;
		return;
	}
	name->launches += launches;
	name->new += launches;
}

void kernel_execution_ran(struct kernel_naming *n, struct kernel_execution *p, const struct kernel *kernel,
			  unsigned long long ns)
{
	struct kernel_name *name = kernel ? call(n, p, kernel) : NULL;

	p->changed = true;
	*(name ? &name->ns : &p->other_ns) += ns;
}

static int by_launches(const struct kernel_name *a, const struct kernel_name *b)
{
	return (a->launches < b->launches) - (a->launches > b->launches);
}

static void show(struct kernel_naming *n, struct kernel_execution *p, struct kernel_name *name,
		 struct label_set *set)
{
	const struct metric_labels labels = metric_text(name->text->labels);

	if (!name->named && name->launches >= KERNEL_LAUNCHES && p->named < n->most) {
		name->named = series_of(set, METRIC_KERNEL_LAUNCHES, labels, true);
		p->named += name->named;
	}
	if (name->named) {
		series_count(set, METRIC_KERNEL_LAUNCHES, labels, name->new);
		if (name->ns)
			series_count(set, METRIC_KERNEL_GPU, labels, name->ns);
	} else {
		p->other += name->new;
		p->other_ns += name->ns;
	}
	name->new = name->ns = 0;
}

static void show_copies(const struct graph_counts *graphs, struct label_set *set)
{
	for (unsigned d = 0; d <= CUDA_DEFAULT; d++)
		if (graphs->copies[d].n)
			series_observe(set, METRIC_COPY_SIZE, metric_labels(d, 1), graphs->copies[d].sizes, graphs->copies[d].bytes, false);
}

static void show_graphs(struct kernel_execution *p, struct label_set *set)
{
	const struct graph_counts *graphs = p->graphs;

	if (!graphs)
		return;
	for (unsigned known = 0; known < 2; known++)
		if (graphs->launches[known])
			series_count(set, METRIC_GRAPH_LAUNCHES, metric_labels(known, 0), graphs->launches[known]);
	for (unsigned kind = 0; kind < NODE_KIND_MAX; kind++)
		if (graphs->nodes[kind])
			series_count(set, METRIC_GRAPH_NODES, metric_labels(kind, 0), graphs->nodes[kind]);
	show_copies(graphs, set);
	free(p->graphs);
	p->graphs = NULL;
}

static void show_gpu(struct kernel_execution *p, struct label_set *set)
{
	if (p->gpu.graphs)
		series_count(set, METRIC_GRAPH_GPU, (struct metric_labels){ 0 }, p->gpu.graphs);
	for (unsigned d = 0; d <= CUDA_DEFAULT; d++)
		if (p->gpu.copies[d])
			series_count(set, METRIC_COPY_GPU, metric_labels(d, 0), p->gpu.copies[d]);
	p->gpu = (struct gpu_sums){ 0 };
}

void kernel_execution_show(struct kernel_naming *n, struct kernel_execution *p, struct label_set *set)
{
	struct kernel_name *name;

	if (!p->changed)
		return;
	p->changed = false;
	show_graphs(p, set);
	if (p->named < n->most)
		HASH_SORT(p->names, by_launches);
	for (name = p->names; name; name = name->hh.next)
		if (name->new || name->ns)
			show(n, p, name, set);
	if (p->other)
		series_count(set, METRIC_KERNEL_LAUNCHES, metric_text(n->other->labels), p->other);
	if (p->other_ns)
		series_count(set, METRIC_KERNEL_GPU, metric_text(n->other->labels), p->other_ns);
	p->other = p->other_ns = 0;
	show_gpu(p, set);
}

void kernel_execution_clear(struct kernel_naming *n, struct kernel_execution *p)
{
	struct kernel_called *called, *next;
	struct kernel_name *name, *next_name;

	free(p->graphs);
	p->graphs = NULL;
	HASH_ITER(hh, p->called, called, next) {
		HASH_DEL(p->called, called);
		quota_give(&n->quota, p->user, CALLED_COST);
		kernel_put(called->kernel);
		free(called);
	}
	HASH_ITER(hh, p->names, name, next_name) {
		HASH_DEL(p->names, name);
		quota_give(&n->quota, p->user, NAME_COST);
		name->text->uses--;
		free(name);
	}
}

/* How long naming kernels may delay a page.  Launches of the others count as "other" until the next page. */
static const unsigned long long NAMING_NS = 100 * 1000000ull;

void kernel_counts_open(struct kernel_counts *k, struct syms *syms, const struct bpf_map *counts,
			const struct bpf_map *quick, struct shares *shares)
{
	if (!k->naming.most && !k->profiles)
		return;
	k->naming.quota = (struct quota){
		.limit = 16 << 20, .what = "names of kernels",
		.loss = "launches of further ones are counted as \"other\"",
	};
	kernel_naming_init(&k->naming);
	k->launches = launches_new(syms, counts, quick, shares, false);
}

/* A program that has captured a graph. */
struct capturing {
	unsigned long long program;
	UT_hash_handle hh;
};

static struct capturing *capturing_of(const struct kernel_counts *k, unsigned long long program)
{
	struct capturing *c;

	HASH_FIND(hh, k->capturing, &program, sizeof(program), c);
	return c;
}

static void note_capture(struct kernel_counts *k, unsigned long long program)
{
	struct capturing *c = capturing_of(k, program);

	if (c)
		return;
	c = xcalloc(1, sizeof(*c));
	c->program = program;
	HASH_ADD(hh, k->capturing, program, sizeof(c->program), c);
}

static void drop_capturing(struct kernel_counts *k, struct capturing *c)
{
	HASH_DEL(k->capturing, c);
	free(c);
}

static void drop_program(struct kernel_counts *k, struct kernel_execution *p)
{
	kernel_execution_clear(&k->naming, p);
	HASH_DEL(k->programs, p);
	free(p);
}

void kernel_counts_free(struct kernel_counts *k)
{
	struct kernel_execution *p, *next;

	HASH_ITER(hh, k->programs, p, next)
		drop_program(k, p);
	while (k->capturing)
		drop_capturing(k, k->capturing);
	kernel_naming_free(&k->naming);
	if (k->launches)
		launches_free(k->launches);
}

static void scan(void *ctx, int pid)
{
	launches_scan(ctx, pid);
}

void kernel_counts_scan(struct kernel_counts *k)
{
	if (k->launches)
		syms_each(k->launches->syms, scan, k->launches);
}

bool kernel_counts_record(struct kernel_counts *k, const void *data, size_t size)
{
	const struct record *r = data;
	bool ours = launch_is_record(r);

	if (r->kind == LAUNCH_CAPTURE_BEGAN && size >= sizeof(struct launch_event))
		note_capture(k, ((const struct launch_event *)data)->key.program);
	if (r->kind == LAUNCH_CAPTURE_ENDED)
		captures_drop_ended(&k->captures);
	if (k->launches && (ours || r->kind == RECORD_FORK))
		launches_record(k->launches, data, size);
	return ours;
}

void kernel_counts_ended(void *ctx, const struct process_event *event)
{
	struct kernel_counts *k = ctx;
	struct capturing *c = event->head.kind == RECORD_FORK ? NULL : capturing_of(k, event->program);

	if (c) {
		captures_drop_program(&k->captures, c->program);
		drop_capturing(k, c);
	}
	if (k->launches)
		launches_ended(k->launches, event);
}

void kernel_counts_tick(struct kernel_counts *k)
{
	if (!k->launches)
		return;
	launches_tick(k->launches);
	if (k->launches->lost_nodes && !k->said)
		warning(0, "graphs not followed, launches of their kernels do not count: " GRAPHS_LOST);
	k->said |= k->launches->lost_nodes;
}

struct kernel_execution *kernel_counts_program(struct kernel_counts *k, unsigned long long id, int pid, unsigned user)
{
	struct kernel_execution *p;

	HASH_FIND(hh, k->programs, &id, sizeof(id), p);
	if (p)
		return p;
	p = xcalloc(1, sizeof(*p));
	p->id = id;
	p->pid = pid;
	p->user = user;
	HASH_ADD(hh, k->programs, id, sizeof(p->id), p);
	return p;
}

static struct kernel_execution *kernel_counts_program_of(struct kernel_counts *k, const struct execution *program)
{
	return kernel_counts_program(k, program->id, program->pid, program->user);
}

static void add_rows(struct kernel_counts *k)
{
	size_t n;
	struct launch_row *rows = launches_rows(k->launches, LAUNCHES_BY_FULL, &n);

	for (size_t i = 0; k->profiles && i < n; i++)
		profiles_launched(k->profiles, &rows[i]);
	for (size_t i = 0; k->naming.most && i < n; i++)
		if (rows[i].last.launches && rows[i].kind != LAUNCH_GRAPH)
			kernel_execution_count(&k->naming, kernel_counts_program_of(k, rows[i].program), rows[i].kernel,
					     rows[i].last.launches);
	free(rows);
}

static void kernel_counts_add_copies(struct graph_counts *graphs, const struct graph_work *w, unsigned long long n)
{
	const unsigned direction = w->direction <= CUDA_DEFAULT ? w->direction : CUDA_DEFAULT;
	const unsigned long long bytes = w->bytes < EXPORT_BYTES_MAX ? w->bytes : EXPORT_BYTES_MAX;
	const unsigned bits = bytes < 2 ? 0 : 64 - __builtin_clzll(bytes - 1);

	graphs->copies[direction].n += n;
	graphs->copies[direction].bytes += bytes * n;
	graphs->copies[direction].sizes[export_size_bucket(bits)] += n;
}

static void add_graph(void *ctx, const struct counter *graph)
{
	struct kernel_execution *p = kernel_counts_program_of(ctx, &graph->program->program);
	const struct graph_content *content = graph->graph.content;

	if (!p->graphs)
		p->graphs = xcalloc(1, sizeof(*p->graphs));
	p->changed = true;
	p->graphs->launches[graph->graph.known] += graph->last.launches;
	for (size_t i = 0; content && i < content->n; i++) {
		const struct graph_work *w = &content->all[i];
		const unsigned long long n = w->count * graph->last.launches;

		if (w->kind == NODE_TAKEN)
			continue;
		p->graphs->nodes[w->kind] += n;
		if (w->kind == NODE_COPY)
			kernel_counts_add_copies(p->graphs, w, n);
	}
}

/* With only_over, leaves launches of live processes for the next page: the kernel may have a series by then.  Returns
 * false if the record of the process is still to come. */
static bool show_program(struct kernel_counts *k, struct kernel_execution *p, struct processes *processes, bool only_over)
{
	const struct cuda_process *process = processes_admit(processes, p->pid, p->id);

	if (process && (!only_over || process->over))
		kernel_execution_show(&k->naming, p, process->set);
	return process;
}

void kernel_counts_read(struct kernel_counts *k)
{
	if (!k->launches)
		return;
	launches_count(k->launches);
	k->naming.until = clock_ns() + NAMING_NS;
	add_rows(k);
	if (k->naming.most)
		launches_each_graph(k->launches, add_graph, k);
}

void kernel_counts_show(struct kernel_counts *k, struct processes *processes, bool only_over)
{
	struct kernel_execution *p, *next;

	if (!k->launches)
		return;
	HASH_ITER(hh, k->programs, p, next) {
		bool gone = !executions_find(k->launches->programs, p->id);

		if (p->changed && !show_program(k, p, processes, only_over && !gone))
			continue;
		if (gone)
			drop_program(k, p);
	}
	kernel_naming_reap(&k->naming, processes->sets.table);
}
