/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/clock.h"
#include "cudaexporter/calls_inflight.h"
#include "cudaexporter/client_texts.h"
#include "cudaexporter/exporter.h"
#include "cudaexporter/page.h"
#include "model/inflight.h"
#include "probe/dso.h"
#include "probe/scan.h"
#include "session/session.h"

static const unsigned long long SECOND_NS = 1000000000, SWEEP_NS = 250000000, CHECK_NS = 15 * 1000000000ull,
				READER_NS = 300 * 1000000000ull;

void exporter_ended(void *ctx, int pid)
{
	struct exporter *e = ctx;

	held_forget(&e->held, pid);
	session_drop(e->session, pid);
}

void exporter_on_end(void *ctx, const struct process_event *event)
{
	struct exporter *e = ctx;
	struct client *client = clients_find(&e->clients, event->head.pid);

	if (client && (client->key.program ? client->key.program == event->program : client->made < event->time))
		clients_end(&e->clients, client);
}

void exporter_record(struct exporter *e, const void *data, size_t size)
{
	const struct export_seen *seen = data;

	if (kernel_counts_record(&e->kernels, data, size) || record_is_process_event(data))
		return;
	if (seen->head.kind == EXPORT_SEEN)
		clients_seen(&e->clients, seen)->preexisting =
			session_is_preexisting(e->session, seen->head.pid);
	else
		held_record(&e->held, data);
}

/* One that is gone by now has a record, which names it, or made no call. */
void exporter_mapped(struct exporter *e, int pid)
{
	char comm[IDENTITY_COMM];

	if (!filter_wants(&e->session->selected, pid))
		clients_leave_out(&e->clients, pid);
	else if (proc_comm(pid, comm))
		clients_mapped(&e->clients, pid)->preexisting = session_is_preexisting(e->session, pid);
}

static void check(struct exporter *e, unsigned long long now)
{
	bool thorough = now - e->checked >= CHECK_NS;

	if (thorough)
		e->checked = now;
	clients_check(&e->clients, thorough);
}

/* Also of clients that are over, which then are no more. */
static void read_counts(struct exporter *e, bool only_over)
{
	kernel_counts_read(&e->kernels, &e->clients, &e->table, only_over);
	counts_read(&e->counts, only_over);
}

void exporter_tick(struct exporter *e)
{
	unsigned long long now = clock_ns();

	kernel_counts_tick(&e->kernels);
	if (now - e->swept < SWEEP_NS)
		return;
	e->swept = now;
	if (now - e->checked >= CHECK_NS)
		check(e, now);
	if (!e->clients.over)
		return;
	read_counts(e, true);
	e->collected = 0;	/* what was collected has the same counts again */
}

/* The major version of a runtime that is linked in is not known. */
static char *info_labels(struct exporter *e, const struct client *client)
{
	struct labels all = { .mask = (1 << LABEL_MAX) - 1 };
	char *id = labels_text(&all, client->key.pid, &client->is), *text;
	int runtime = scan_runtime(&e->session->probes, client->key.pid);

	text = runtime ? xprintf("%s,runtime=\"%d\",complete=\"%d\"", id, runtime, !client->preexisting) :
	       xprintf("%s,runtime=\"\",complete=\"%d\"", id, !client->preexisting);
	free(id);
	return text;
}

static void collect_info(struct exporter *e)
{
	struct client *client;

	for (client = e->clients.by_pid; client; client = client->hh_pid.next) {
		if (client->owner != e->clients.owners.other &&
		    !client_shown(&e->table, client, METRIC_PROCESS_INFO))
			client_show(&e->table, client, METRIC_PROCESS_INFO, info_labels(e, client));
	}
}

static void collect(struct exporter *e)
{
	unsigned long long began = clock_ns();

	check(e, began);
	series_begin(&e->table);
	read_counts(e, false);
	held_collect(&e->held);
	calls_inflight_collect(&e->inflight, &e->clients, &e->table);
	collect_info(e);
	gpus_collect(&e->gpus, &e->clients, &e->held);
	probed_collect(&e->probed, &e->table, &e->owner);
	self_collect(&e->self, clock_ns() - began);
	series_end(&e->table);
	e->collected = clock_ns();
}

/* The number of a reader; -1: it is none, or there are too many that are active. */
static int reader_of(struct exporter *e, unsigned long long who)
{
	unsigned long long now = clock_ns();
	int free = -1;

	for (int i = 0; who && i < SCRAPERS; i++) {
		struct reader *r = &e->readers[i];

		if (r->who == who) {
			r->last = now;
			r->pages++;
			return i;
		}
		if (free < 0 && (!r->who || now - r->last > READER_NS))
			free = i;
	}
	if (free < 0)
		return -1;
	e->readers[free] = (struct reader){ who, now, 1 };
	series_new_reader(&e->table, free);
	return free;
}

static unsigned active(const struct exporter *e)
{
	unsigned long long now = clock_ns();
	unsigned mask = 0;

	for (int i = 0; i < SCRAPERS; i++)
		if (e->readers[i].pages > 1 && e->readers[i].who != READER_FILE && now - e->readers[i].last <= READER_NS)
			mask |= 1 << i;
	return mask;
}

void exporter_page(struct exporter *e, FILE *f, bool openmetrics, unsigned long long who)
{
	int reader = reader_of(e, who);

	if (!e->collected || clock_ns() - e->collected >= SECOND_NS)
		collect(e);
	series_of(&e->table, &e->owner, METRIC_SERIES, (struct metric_labels){ 0 }, true)->live =
		series_samples(&e->table);
	page_print(f, &e->table, openmetrics, reader);
	if (!e->clients.over)	/* the page is with what they counted last */
		owners_paged(&e->clients.owners, reader < 0 ? SCRAPERS : reader, active(e));
}

void exporter_free(struct exporter *e)
{
	inflight_free(&e->inflight);
	kernel_counts_free(&e->kernels);
	clients_free(&e->clients);
	owners_free(&e->clients.owners);
	series_drop_owner(&e->table, &e->owner);
	series_free(&e->table);
	held_free(&e->held);
	gpus_close(&e->gpus);
	probed_free(&e->probed);
	self_close(&e->self);
	dso_free(&e->session->probes);	/* the last page may be made after session_finish() */
}
