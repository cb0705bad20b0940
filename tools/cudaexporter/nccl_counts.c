/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/cudaexporter.h"
#include "abi/nccl_event.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "cudaexporter/nccl_counts.h"
#include "session/session.h"

/* The labels of a rank of a communicator, as they are printed: each text once, because equal text at another address is
 * another series. */
struct nccl_text {
	struct nccl_text_key { unsigned long long hash; int rank, nranks; } key;
	unsigned uses;			/* by processes with such a communicator */
	unsigned long long ended;	/* when the last one ended, ns; 0: some are in use */
	unsigned char pages[SCRAPERS];	/* that each scraper got since then */
	UT_hash_handle hh;
	char labels[128];
};

/* A process has series with these labels, until they are dropped. */
struct nccl_use {
	struct nccl_use_key { struct nccl_text *text; int pid, unused; } key;
	unsigned long long program;	/* as in struct export_seen */
	unsigned user;			/* who is charged */
	bool alive;			/* such a communicator exists */
	UT_hash_handle hh;
};

/* Bytes, with the places in the tables. */
enum { COST = sizeof(struct nccl_text) + sizeof(struct nccl_use) + 2 * 64 };

/* Limit of the model, bytes. */
enum { MODEL_BYTES = 16 << 20, LABEL_BYTES = 4 << 20 };

static const enum metric metrics[] = {
	METRIC_NCCL_OPERATIONS, METRIC_NCCL_FAILED, METRIC_NCCL_BYTES, METRIC_NCCL_LAST, METRIC_NCCL_BEHIND,
};

static struct nccl_text *text_new(struct nccl_counts *k, const struct nccl_text_key *key)
{
	struct nccl_text *text = xcalloc(1, sizeof(*text));
	char hash[24] = "unknown", rank[16] = "unknown", nranks[16] = "unknown";

	text->key = *key;
	if (key->hash)
		snprintf(hash, sizeof(hash), "0x%llx", key->hash);
	if (key->nranks) {
		snprintf(rank, sizeof(rank), "%d", key->rank);
		snprintf(nranks, sizeof(nranks), "%d", key->nranks);
	}
	snprintf(text->labels, sizeof(text->labels), "communicator=\"%s\",rank=\"%s\",nranks=\"%s\"", hash, rank, nranks);
	HASH_ADD(hh, k->texts, key, sizeof(text->key), text);
	return text;
}

static struct nccl_text *text_find(const struct nccl_counts *k, const struct communicator *m, struct nccl_text_key *key)
{
	struct nccl_text *text;

	memset(key, 0, sizeof(*key));
	key->hash = m->hash;
	key->rank = m->nranks ? m->rank : 0;
	key->nranks = m->nranks;
	HASH_FIND(hh, k->texts, key, sizeof(*key), text);
	return text;
}

static struct nccl_use *use_find(const struct nccl_counts *k, struct nccl_text *text, int pid)
{
	const struct nccl_use_key key = { text, pid, 0 };
	struct nccl_use *use;

	HASH_FIND(hh, k->uses, &key, sizeof(key), use);
	return use;
}

static void use_drop(struct nccl_counts *k, struct nccl_use *use)
{
	struct cuda_process *process = processes_find(k->processes, use->key.pid);

	if (process && process->key.program == use->program)
		process->communicators--;
	HASH_DEL(k->uses, use);
	quota_give(&k->quota, use->user, COST);
	free(use);
}

/* Removes their series first: later labels may have the same address. */
static void text_drop(struct nccl_counts *k, struct nccl_text *text)
{
	struct nccl_use *use, *next_use;

	for (size_t i = 0; i < sizeof(metrics) / sizeof(*metrics); i++)
		series_remove_text(k->table, metrics[i], text->labels);
	HASH_ITER(hh, k->uses, use, next_use)
		if (use->key.text == text)
			use_drop(k, use);
	HASH_DEL(k->texts, text);
	free(text);
}

void nccl_counts_open(struct nccl_counts *k, struct session *session, struct processes *processes, const unsigned long long *lost)
{
	k->processes = processes;
	k->table = processes->sets.table;
	k->lost = lost;
	if (!k->most)
		return;
	k->quota = (struct quota){
		.limit = LABEL_BYTES, .what = "communicators of NCCL with series",
		.loss = "operations in further ones are counted as \"other\"",
	};
	communicators_init(&k->model, &session->probes, session_is_alone(session));
	k->model.quota.limit = MODEL_BYTES;
	k->other = xcalloc(1, sizeof(*k->other));
	snprintf(k->other->labels, sizeof(k->other->labels), "communicator=\"other\",rank=\"other\",nranks=\"other\"");
}

void nccl_counts_free(struct nccl_counts *k)
{
	struct nccl_text *text, *next;

	HASH_ITER(hh, k->texts, text, next)
		text_drop(k, text);
	if (!k->most)
		return;
	free(k->other);
	communicators_free(&k->model);
	quota_free(&k->quota);
}

static struct nccl_use *use_new(struct nccl_counts *k, struct cuda_process *process, struct nccl_text *text)
{
	struct nccl_use *use = xcalloc(1, sizeof(*use));

	use->key.text = text;
	use->key.pid = process->key.pid;
	use->program = process->key.program;
	use->user = process->user;
	HASH_ADD(hh, k->uses, key, sizeof(use->key), use);
	process->communicators++;
	return use;
}

/* Returns the labels of an operation; m may be NULL. */
static struct nccl_text *nccl_counts_text_of(struct nccl_counts *k, struct cuda_process *process, const struct communicator *m)
{
	struct nccl_text_key key;
	struct nccl_text *text = m ? text_find(k, m, &key) : NULL;
	struct nccl_use *use = text ? use_find(k, text, process->key.pid) : NULL;

	if (use) {
		use->program = process->key.program;
		return text;
	}
	if (!m || process->communicators >= k->most || !quota_take(&k->quota, process->user, process->key.pid, COST))
		return k->other;
	if (!text)
		text = text_new(k, &key);
	use_new(k, process, text);
	return text;
}

/* Bounds a program's values: a sum may be of several users' processes. */
static unsigned long long nccl_counts_bytes_of(const struct comm_calls *calls)
{
	const unsigned long long most = calls->n * EXPORT_BYTES_MAX;

	return calls->bytes < most ? calls->bytes : most;
}

static void nccl_counts_count(void *ctx, const struct communicator *m, const struct comm_calls *calls)
{
	const struct nccl_event *e = calls->event;
	struct metric_labels labels = { .a = e->head.kind };
	struct nccl_counts *k = ctx;
	struct cuda_process *process;

	if (!calls->n)
		return;
	process = processes_find(k->processes, e->head.pid) ?:
		  processes_mapped(k->processes, e->head.pid);
	labels.text = nccl_counts_text_of(k, process, m)->labels;
	if (nccl_event_failed(e)) {
		series_count(process->set, METRIC_NCCL_FAILED, labels, 1);
		return;
	}
	series_count(process->set, METRIC_NCCL_OPERATIONS, labels, calls->n);
	if (calls->bytes != NO_VALUE)
		series_count(process->set, METRIC_NCCL_BYTES, labels, nccl_counts_bytes_of(calls));
}

bool nccl_counts_record(struct nccl_counts *k, const void *data, size_t size)
{
	const struct nccl_event *e = data;
	const struct communicator *m;

	if (!k->most || !nccl_event_is_right(e, size))
		return false;
	if (nccl_event_is_launch(e)) {
		communicators_launch(&k->model, e, nccl_counts_count, k);
		return true;
	}
	m = communicators_call(&k->model, e);
	if (cuda_fns[e->head.kind].class == CUDA_OPERATION && !e->capture)
		nccl_counts_count(k, m, &(struct comm_calls){
			.event = e, .n = 1, .bytes = nccl_event_bytes(e) });
	return true;
}

void nccl_counts_graph(struct nccl_counts *k, const struct record *record, size_t size)
{
	if (k->most)
		communicators_graph(&k->model, record, size);
}

void nccl_counts_ended(void *ctx, const struct process_event *event)
{
	struct nccl_counts *k = ctx;

	if (k->most)
		communicators_ended(&k->model, event);
}

struct gauges {
	struct nccl_counts *k;
	unsigned long long epoch;
};

static void set_gauges(void *ctx, const struct communicator *m)
{
	const struct gauges *g = ctx;
	struct cuda_process *process = processes_find(g->k->processes, m->pid);
	unsigned long long behind = communicator_behind(m);
	struct nccl_text *text;

	if (!process || (m->func < 0 && behind == NO_VALUE))
		return;
	text = nccl_counts_text_of(g->k, process, m);
	if (text == g->k->other)
		return;
	use_find(g->k, text, m->pid)->alive = true;
	if (m->func >= 0)
		series_max(process->set, METRIC_NCCL_LAST, metric_text(text->labels), m->time + g->epoch);
	if (behind != NO_VALUE)
		series_max(process->set, METRIC_NCCL_BEHIND, metric_text(text->labels), behind);
}

static void note_ended(struct nccl_counts *k)
{
	struct nccl_text *text, *next;
	const struct nccl_use *use;

	for (text = k->texts; text; text = text->hh.next)
		text->uses = 0;
	for (use = k->uses; use; use = use->hh.next)
		use->key.text->uses += use->alive;
	HASH_ITER(hh, k->texts, text, next) {
		if (text->uses) {
			text->ended = 0;
		} else if (!text->ended) {
			text->ended = clock_ns();
			memset(text->pages, 0, sizeof(text->pages));
		}
	}
}

void nccl_counts_collect(struct nccl_counts *k, unsigned long long epoch)
{
	struct gauges gauges = { k, epoch };
	struct nccl_use *use;

	if (!k->most)
		return;
	if (*k->lost != k->lost_before)
		communicators_lost(&k->model);
	k->lost_before = *k->lost;
	communicators_interval(&k->model);
	for (use = k->uses; use; use = use->hh.next)
		use->alive = false;
	communicators_each(&k->model, set_gauges, &gauges);
	note_ended(k);
}

void nccl_counts_paged(struct nccl_counts *k, unsigned scraper, unsigned active)
{
	struct nccl_text *text, *next;

	HASH_ITER(hh, k->texts, text, next) {
		if (text->ended && scraper < SCRAPERS && text->pages[scraper] < 255)
			text->pages[scraper]++;
		if (label_sets_stayed(text->ended, text->pages, active))
			text_drop(k, text);
	}
}
