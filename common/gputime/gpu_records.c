/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "api/cuda_api.h"
#include "base/clock.h"
#include "base/die.h"
#include "gputime/gpu_calls.h"
#include "gputime/gpu_process.h"
#include "gputime/gpu_records.h"
#include "gputime/gpu_tallies.h"
#include "kernels/kernel_name.h"

/* How long a run waits for its call: CUPTI delivers them in different buffers. */
static const unsigned long long CALL_NS = 2000000000;

/* A run is not longer: a program could make sums overflow. */
static const unsigned long long RUN_MAX = 3600000000000;

/* Of a process, runs that wait for their calls. */
enum { WAITING = 1 << 16 };

enum { NAMES_COST = GPUTIME_NAMES * sizeof(struct kernel *) };

/* ---- A run is added up, or given to the tool */

/* copy: a CUpti_ActivityMemcpyKind (cupti_activity.h). */
static unsigned direction_of(unsigned copy)
{
	static const unsigned char directions[] = {
		[1] = CUDA_HTOD, [2] = CUDA_DTOH, [3] = CUDA_HTOD /* to an array */, [4] = CUDA_DTOH, [5] = CUDA_DTOD,
		[6] = CUDA_DTOD, [7] = CUDA_DTOD, [8] = CUDA_DTOD, [9] = CUDA_HTOH, [10] = CUDA_PTOP,
	};

	return copy < sizeof(directions) && directions[copy] ? directions[copy] : CUDA_DEFAULT;
}

static void on_run(struct gpu_time *g, struct gpu_process *p, const struct gputime_record *r, const struct gpu_caller *caller)
{
	struct gpu_tally_key key = { .kind = r->kind, .device = r->device < DEVICES ? r->device + 1 : 0 };
	const long long clock = p->memory.control->clock;

	if (r->name)
		key.kernel = p->names[r->name - 1];
	if (r->kind == GPUTIME_GRAPH)
		key.graph = r->graph;
	if (r->kind == GPUTIME_COPY)
		key.direction = direction_of(r->copy);
	if (g->on_run) {
		g->on_run(g->ctx, &(struct gpu_run){
			.kernel = key.kernel, .kind = key.kind, .device = key.device, .graph = key.graph, .direction = key.direction,
			.context = r->context, .stream = r->stream, .correlation = r->correlation, .pid = p->pid,
			.start = r->start + clock, .end = r->end + clock, .bytes = r->bytes, .caller = caller,
		});
		return;
	}
	key.site = caller ? caller->site : NULL;
	p->losses.dropped += !gpu_tally_add(g, p, &key, r->end - r->start, r->bytes);
}

/* ---- Runs that wait for their calls */

static bool needs_call(const struct gpu_time *g, const struct gputime_record *r)
{
	if (!g->callers)
		return false;
	return g->want & (r->kind == GPUTIME_COPY || r->kind == GPUTIME_SET ? GPUTIME_COPY_CALLS : GPUTIME_LAUNCHES);
}

static bool gpu_records_make_room(struct gpu_time *g, struct gpu_process *p)
{
	const unsigned room = p->room ? 2 * p->room : 1024;
	struct waiting_run *runs;

	if (p->nwaiting < p->room)
		return true;
	if (room > WAITING || !quota_take(&g->quota, p->user, p->pid, (room - p->room) * sizeof(*runs)))
		return false;
	runs = xcalloc(room, sizeof(*runs));
	for (unsigned i = 0; i < p->nwaiting; i++)
		runs[i] = p->waiting[(p->first + i) % p->room];
	free(p->waiting);
	p->waiting = runs;
	p->room = room;
	p->first = 0;
	return true;
}

static void finish_run(struct gpu_time *g, struct gpu_process *p, const struct gputime_record *r, const struct gpu_caller *caller)
{
	if (needs_call(g, r))
		g->uncalled += !caller || (g->sites && !caller->seen);
	on_run(g, p, r, caller);
}

static void begin_run(struct gpu_time *g, struct gpu_process *p, const struct gputime_record *r)
{
	const struct gpu_caller *caller = needs_call(g, r) ? gpu_calls_find(p->calls, r->correlation) : NULL;

	if (caller || !needs_call(g, r) || !gpu_records_make_room(g, p))
		finish_run(g, p, r, caller);
	else
		p->waiting[(p->first + p->nwaiting++) % p->room] = (struct waiting_run){ *r, clock_ns() };
}

void gpu_records_retry(struct gpu_time *g, struct gpu_process *p, bool all)
{
	const unsigned long long now = clock_ns();

	gpu_calls_tick(p->calls, all);
	for (unsigned n = p->nwaiting; n; n--) {
		const struct waiting_run w = p->waiting[p->first];
		const struct gpu_caller *caller = gpu_calls_find(p->calls, w.record.correlation);

		p->first = (p->first + 1) % p->room;
		p->nwaiting--;
		if (caller || all || now - w.since >= CALL_NS)
			finish_run(g, p, &w.record, caller);
		else
			p->waiting[(p->first + p->nwaiting++) % p->room] = w;
	}
}

/* ---- Records: the program may have written anything */

static void on_call(struct gpu_process *p, const struct gputime_record *r)
{
	const long long clock = p->memory.control->clock;

	if (p->calls)
		gpu_calls_called(p->calls, r->call.thread, r->call.start + clock, r->call.end + clock, r->call.correlation);
}

/* The last part of a name has come. */
static void on_name(struct gpu_time *g, struct gpu_process *p, unsigned size)
{
	if (!p->names && !quota_take(&g->quota, p->user, p->pid, NAMES_COST)) {
		p->losses.dropped++;
		return;
	}
	p->text[size] = '\0';
	p->names = p->names ?: xcalloc(GPUTIME_NAMES, sizeof(*p->names));
	p->names[p->text_name - 1] = kernel_get(kernel_named(g->names, p->user, p->pid, p->text));
}

static void on_text(struct gpu_time *g, struct gpu_process *p, const struct gputime_record *r)
{
	const unsigned size = r->text.size, at = r->text.at;

	if (!at) {
		p->text_name = r->name;
		p->text_at = 0;
	}
	if (!r->name || r->name != p->text_name || (p->names && p->names[r->name - 1]) || !size || at != p->text_at || at >= size) {
		p->losses.unknown++;
		return;
	}
	if (!p->text)
		p->text = xcalloc(1, GPUTIME_NAME_MAX + GPUTIME_PART + 1);
	memcpy(p->text + at, r->text.part, GPUTIME_PART);
	p->text_at = at + GPUTIME_PART;
	if (p->text_at < size)
		return;
	p->text_at = 0;
	on_name(g, p, size);
}

static bool is_sane(const struct gpu_process *p, const struct gputime_record *r)
{
	if (r->kind == GPUTIME_TEXT)
		return r->name <= GPUTIME_NAMES && r->text.size <= GPUTIME_NAME_MAX;
	if (!r->kind || r->kind > GPUTIME_TEXT || !r->start || r->end < r->start || r->end - r->start > RUN_MAX)
		return false;
	return r->kind == GPUTIME_CALL || !r->name || (r->name <= GPUTIME_NAMES && p->names && p->names[r->name - 1]);
}

static void handle(struct gpu_time *g, struct gpu_process *p, const struct gputime_record *r)
{
	if (!is_sane(p, r))
		p->losses.unknown++;
	else if (r->kind == GPUTIME_TEXT)
		on_text(g, p, r);
	else if (r->kind == GPUTIME_CALL)
		on_call(p, r);
	else
		begin_run(g, p, r);
}

static void read_losses(struct gpu_time *g, struct gpu_process *p)
{
	gpu_memory_losses(&p->memory, &p->losses);
	g->dropped += p->losses.dropped;
	g->unknown += p->losses.unknown;
	g->untimed += p->losses.untimed;
	p->losses = (struct gpu_losses){ 0 };
}

void gpu_records_read(struct gpu_time *g, struct gpu_process *p)
{
	unsigned long long now = clock_ns(), n;

	/* else they stay there: the library counts those for which there is no room then */
	if (!budget_left(&g->budget, p->user, now))
		return;
	n = gpu_memory_records(&p->memory);
	p->measured |= n > 0;
	while (n--) {
		struct gputime_record r;

		gpu_memory_next(&p->memory, &r);
		handle(g, p, &r);
	}
	gpu_memory_release(&p->memory);
	if (p->calls)
		gpu_records_retry(g, p, false);
	read_losses(g, p);
	budget_charge(&g->budget, p->user, clock_ns() - now);
}

/* ---- The end */

static void free_names(struct gpu_time *g, struct gpu_process *p)
{
	for (unsigned i = 0; p->names && i < GPUTIME_NAMES; i++)
		kernel_put(p->names[i]);
	if (p->names)
		quota_give(&g->quota, p->user, NAMES_COST);
	free(p->names);
	free(p->text);
	p->names = NULL;
	p->text = NULL;
}

/* There may be no time for what is left. */
void gpu_records_rest(struct gpu_time *g, struct gpu_process *p)
{
	gpu_records_read(g, p);
	if (p->calls)
		gpu_records_retry(g, p, true);
	g->dropped += gpu_memory_records(&p->memory);
	quota_give(&g->quota, p->user, p->room * sizeof(*p->waiting));
	free(p->waiting);
	p->waiting = NULL;
	p->room = p->nwaiting = 0;
	free_names(g, p);
	gpu_memory_close(&p->memory);
	quota_give(&g->quota, p->user, GPUTIME_RING);
}
