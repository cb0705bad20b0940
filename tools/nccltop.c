// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* nccltop - show what each rank of each communicator of NCCL does, and which are behind */
#include <stdlib.h>
#include <string.h>
#include "abi/launch.h"
#include "abi/nccl_event.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "cli/out.h"
#include "cli/sorted_table.h"
#include "model/captures.h"
#include "nccl/communicators.h"
#include "inflight/inflight.h"
#include "session/live.h"
#include "session/tool.h"
#include "view/columns.h"
#include "inflight/inflight_view.h"
#include "nccl.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show the ranks of NCCL's communicators: operations and bytes per second, how far each is\n"
		"behind the others, and which one comes last.  On a terminal live in place, every interval\n"
		"(1 second); otherwise in blocks, every interval and at the end.",
	.examples =
	"  nccltop                  # every process\n"
	"  nccltop -s late 5        # the ranks that come last first, every 5 seconds\n"
	"  nccltop -j -p 181 1 3    # one process, three times, as JSON\n"
	"  nccltop -c './ranks.py 4'\n",
};

struct line {
	unsigned long long time, hash, handle, rank, nranks, operations, replayed, total, failed, bytes, per_s, behind, met, last, late, idle;
	const unsigned long long *sizes;
	double interval, rate;
	int pid;
	unsigned int device;
	bool complete;
	char ranks[24], comm[16], container[CONTAINER_ID];	/* "": unknown, or none */
	const char *func;
};

OUT_WORD(row_type, "rank");

#define AT(f) offsetof(struct line, f)
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* a rank of a communicator, with its operations in the interval */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "interval_s", NULL, 0, OUT_REAL, AT(interval) },	/* s: length of the interval */
	{ "communicator", "COMMUNICATOR", -18, OUT_PTR, AT(hash) },	/* its hash, as in messages of NCCL; null if unknown */
	{ "handle", NULL, 0, OUT_PTR, AT(handle) },	/* the ncclComm_t */
	{ NULL, "RANK", -9, OUT_CHARS, AT(ranks) },
	{ "rank", NULL, 0, OUT_UINT, AT(rank) },	/* in the communicator; null if unknown */
	{ "nranks", NULL, 0, OUT_UINT, AT(nranks) },	/* of the communicator; null if unknown */
	{ "pid", "PID", -7, OUT_INT, AT(pid) },
	{ "comm", "COMM", -15, OUT_CHARS, AT(comm) },	/* of the thread that called last */
	{ "container", NULL, -12, OUT_CHARS, AT(container) },
	{ "device", "DEVICE", 6, OUT_DEVICE, AT(device) },	/* of the last operation; null if unknown */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },	/* false if the communicator was made before tracing began */
	{ "operations", NULL, 0, OUT_UINT, AT(operations) },	/* begun in the interval */
	{ "operations_per_s", "OPS/S", 10, OUT_REAL, AT(rate) },	/* in the interval */
	{ "size", NULL, 0, OUT_UINT, AT(bytes) },	/* bytes: of the values of these */
	{ "bytes_per_s", "BYTES/S", 9, OUT_SIZE, AT(per_s) },	/* bytes: a second */
	{ "total", "TOTAL", 9, OUT_UINT, AT(total) },	/* operations since the communicator was made, or since tracing began */
	{ "replayed", NULL, 0, OUT_UINT, AT(replayed) },	/* of operations: by launches of CUDA graphs that have captured their calls */
	{ "failed", NULL, 0, OUT_UINT, AT(failed) },	/* calls that failed, in the interval */
	{ "behind", "BEHIND", 7, OUT_UINT, AT(behind) },	/* collectives whose calls have returned in another rank and not in this one; null if unknown */
	{ "met", NULL, 0, OUT_UINT, AT(met) },	/* collectives that all ranks have come to in the interval, by their calls */
	{ "came_last", "LAST", 7, OUT_UINT, AT(last) },	/* of these, to how many this rank came last */
	{ "late_ns", "LATE(us)", 10, OUT_US, AT(late) },	/* mean time from the first one of all ranks to this one; null if none could be compared */
	{ "idle_ns", "IDLE(us)", 11, OUT_US, AT(idle) },	/* since its last operation began; null if there was none */
	{ "func", "FUNCTION", -1, OUT_STR, AT(func) },	/* of the last operation; null if there was none */
	{ "hist_size", NULL, 0, OUT_ROWS, AT(sizes) },	/* sizes of the operations in the interval, in bytes */
	{ 0 }
};

#define SORT_WORDS "rank|ops|bytes|behind|late|idle"
static const struct table_sort sorts[] = {	/* as the words */
	{ NULL, "rank" }, { "operations_per_s", "operations" }, { "bytes_per_s", "bytes" }, { "behind", "behind" },
	{ "came_last", "came last" }, { "idle_ns", "idle" }, { NULL, NULL },
};

enum { BY_LATE = 4 };		/* of sorts */

enum { TEXT_ROWS = 40 };

struct top {
	struct communicators communicators;
	struct captures captures;
	struct sorted_table table;	/* of struct line, as of the last report */
	size_t room;
	unsigned long long began, counted;	/* tracing, the interval; ns */
	unsigned long long lost;	/* records, so far */
	double interval;	/* s */
	bool batch;
	char *who;
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];
	struct live_table live;
	struct inflight inflight;
	struct session session;
	struct event_loop events;
	struct nccl_bpf *skel;
};

/* ---- Lines */

static void add_line(void *ctx, const struct communicator *m)
{
	const struct comm_tally *total = &m->total, *before = &m->before;
	struct top *t = ctx;
	const char *container = process_container(&t->session.processes, m->pid);
	struct line *l;

	if (t->table.n == t->room) {
		t->room = t->room ? 2 * t->room : 64;
		t->table.rows = xrealloc(t->table.rows, t->room, sizeof(*l));
	}
	l = (struct line *)t->table.rows + t->table.n++;
	*l = (struct line){
		.time = t->counted, .interval = t->interval, .hash = m->hash ?: OUT_NONE, .handle = m->handle, .pid = m->pid,
		.device = m->device, .complete = m->whole,
		.operations = total->operations - before->operations, .replayed = total->replayed - before->replayed, .total = total->operations,
		.failed = total->failed - before->failed, .bytes = total->bytes - before->bytes,
		.behind = communicator_behind(m), .met = total->met - before->met, .last = total->came_last - before->came_last,
		.idle = m->func < 0 ? OUT_NONE : t->counted > m->time ? t->counted - m->time : 0,
		.func = m->func < 0 ? NULL : cuda_fns[m->func].name, .sizes = m->sizes,
		.rank = m->nranks ? (unsigned)m->rank : OUT_NONE, .nranks = m->nranks ? (unsigned)m->nranks : OUT_NONE,
	};
	l->rate = t->interval > 0 ? l->operations / t->interval : 0;
	l->per_s = t->interval > 0 ? l->bytes / t->interval : 0;
	l->late = l->met ? (total->late - before->late) / l->met : OUT_NONE;
	memcpy(l->comm, m->comm, sizeof(m->comm));
	if (container)
		snprintf(l->container, sizeof(l->container), "%s", container);
	if (m->nranks)
		snprintf(l->ranks, sizeof(l->ranks), "%d/%d", m->rank, m->nranks);
}

static int descending(unsigned long long a, unsigned long long b)
{
	a++;		/* OUT_NONE is last */
	b++;
	return (a < b) - (a > b);
}

static int ascending(unsigned long long a, unsigned long long b)
{
	return (a > b) - (a < b);
}

static int compare(const struct sorted_table *t, const void *a, const void *b)
{
	const struct line *p = a, *q = b;

	return (t->sort == BY_LATE ? descending(p->late, q->late) : 0) ?: ascending(p->hash, q->hash) ?:
	       ascending(p->rank, q->rank) ?: p->pid - q->pid ?: ascending(p->handle, q->handle);
}

/* Counts since the last interval or, if whole, since tracing began. */
static void gather(void *ctx, bool whole)
{
	struct top *t = ctx;
	const unsigned long long *lost = t->events.lost;
	unsigned long long now = clock_ns();
	const struct line *lines;

	if (lost[LOST_RECORD] != t->lost)
		communicators_lost(&t->communicators);
	t->lost = lost[LOST_RECORD];
	t->interval = (now - (whole ? t->began : t->counted)) / 1e9;
	t->counted = now;
	t->table.n = 0;
	communicators_each(&t->communicators, add_line, t);
	lines = t->table.rows;
	for (size_t i = 0; i < t->table.n; i++)
		if (*lines[i].container)
			columns_show(t->fields, "container", "CONTAINER");
}

/* ---- Text, JSON and the screen */

static void print(void *ctx)
{
	struct top *t = ctx;

	sorted_table_print(&t->table);
	inflight_collect(&t->inflight);
	inflight_view(&t->inflight);
}

static void totals(const struct sorted_table *t, FILE *f)
{
	const struct line *lines = t->rows;
	double rate = 0;

	for (size_t i = 0; i < t->n; i++)
		rate += lines[i].rate;
	fprintf(f, "%.1f operations/s", rate);
}

/* ---- The tool's hooks */

static void next(void *ctx)
{
	struct top *t = ctx;

	communicators_interval(&t->communicators);
	process_tidy(&t->session.processes);
}

static void report(void *ctx)
{
	const struct top *t = ctx;

	live_report(&t->live);
}

static bool tick(void *ctx)
{
	struct top *t = ctx;

	return live_tick(&t->table.screen);
}

static void on_end(void *ctx, const struct process_event *e)
{
	struct top *t = ctx;

	communicators_ended(&t->communicators, e);
	captures_program_ended(&t->captures, e->program);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct top *t = ctx;

	communicators_record(&t->communicators, &t->captures, data, size, NULL, NULL);
	return 0;
}

static void *open_skel(void *ctx)
{
	struct top *t = ctx;

	process_on_end(&t->session.processes, on_end, t);
	t->session.processes.keeps_ended = true;
	memcpy(t->fields, all_fields, sizeof(all_fields));
	t->session.probes.return_classes = NCCL_RETURN_CLASSES;
	return t->skel = nccl_bpf__open();
}

static void loaded(void *ctx)
{
	struct top *t = ctx;

	t->captures = (struct captures)CAPTURES_OF(t->skel);
	communicators_init(&t->communicators, &t->session.probes, session_is_alone(&t->session));
	t->communicators.keeps_ended = true;
}

static void start(void *ctx)
{
	struct top *t = ctx;

	t->began = t->counted = clock_ns();
	t->who = session_who(&t->session);
	t->inflight = (struct inflight)INFLIGHT_OF(t->skel, &t->session, false);
	inflight_start(&t->inflight);
	t->table.screen.who = t->who;
	sorted_table_start(&t->table);
	live_start(&t->session, &t->events, t->batch);
}

static int stop(void *ctx, int sig)
{
	struct top *t = ctx;

	live_stop(&t->live, &t->session, &t->events);
	return sig;
}

static int finish(void *ctx, int status)
{
	struct top *t = ctx;

	communicators_warn(&t->communicators);
	inflight_free(&t->inflight);
	free(t->who);
	return status;
}

int main(int argc, char **argv)
{
	struct top top = {
		.session = SESSION_INIT, .events = { .record = on_record, .report = report, .tick = tick, .ctx = &top },
		.table = {
			.fields = top.fields, .sorts = sorts, .then = compare, .totals = totals, .text_rows = TEXT_ROWS,
			.size = sizeof(struct line),
		},
		.live = { &top.table.screen, &top, gather, print, next },
	};
	const unsigned classes = NCCL_CLASSES;
	int status;
	const struct opt opts[] = {
		OPT_TARGET(&top.session),
		OPT_FLAG('b', "batch", &top.batch, "print blocks of text even on a terminal"),
		OPT_NUM('r', "rows", "ROWS", &top.table.max, 1, "print at most ROWS rows; default: 40, all in JSON and live"),
		OPT_CHOICE('s', "sort", SORT_WORDS, &top.table.sort, "sort order; default: rank"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .session = &top.session, .events = &top.events,
		.classes = &classes, .devices = true, .ctx = &top, .open = open_skel, .loaded = loaded,
		.start = start, .stop = stop, .close = finish,
	};

	status = tool_run(&tool, argc, argv);
	communicators_free(&top.communicators);
	free(top.table.rows);
	return status;
}
