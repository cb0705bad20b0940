/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "base/util.h"
#include "cli/hist.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cudasynclatency/wait_threads.h"
#include "cudasynclatency/wait_view.h"
#include "proc/containers.h"
#include "sym/stack.h"
#include "view/call_view.h"
#include "view/columns.h"
#include "view/stack_view.h"

static void off_cpu(const struct wait_row *r)
{
	const struct hist_totals table = { r->calls.count, r->off, r->off_spread };

	printf("off the CPU for %s, %.1f %% of it\n", out_ns(r->off),
	       r->calls.total ? 100.0 * r->off / r->calls.total : 0);
	hist_table(&table, OUT_UNIT_NS);
	hist_text(r->off_slots, OUT_UNIT_NS);
}

static void group(const struct wait_view *v, const struct wait_row *r)
{
	char number[16], text[32];

	if (v->devices.several)
		printf("device %s, ", device_text(r->device, number));
	if (r->stream)
		printf("%s, ", stream_text(r->stream, text));
	call_stats_text(&r->calls);
	if (v->off_cpu)
		off_cpu(r);
	if (v->stacks)
		stack_text(r->calls.stack);
	putchar('\n');
}

void wait_view_row(const struct wait_view *v, const struct wait_row *r)
{
	if (v->folded)
		folded_line(r->calls.comm, r->calls.stack, r->calls.func, r->calls.total);
	else if (out_is_json())
		out_row(v->fields, r);
	else
		group(v, r);
}

enum { SHOWN = 10 };	/* threads, in text */

OUT_WORD(row_type, "thread");

#define AT(f) offsetof(struct wait_thread_row, f)
static const struct field thread_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* waits of a thread */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "tid", NULL, 0, OUT_INT, AT(tid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },
	{ "container", NULL, 0, OUT_STR, AT(container) },
	{ "waits", NULL, 0, OUT_UINT, AT(count) },	/* calls */
	{ "waited_ns", NULL, 0, OUT_UINT, AT(total) },	/* ns: in these calls */
	{ "share", NULL, 0, OUT_REAL, AT(share) },	/* waited_ns by the time since the last report */
	{ 0 }
};

static void thread(const struct wait_thread_row *r, unsigned long long interval)
{
	printf("thread %d of ", r->tid);
	process_text(r->pid, r->comm, r->container);
	printf(" waited %s in %llu call%s, %.1f %% of %s\n", out_ns(r->total), r->count,
	       plural(r->count), 100 * r->share, out_ns(interval));
}

void wait_view_threads(struct wait_threads *threads, struct containers *containers, unsigned long long now)
{
	unsigned long long interval = wait_threads_finish(threads, now);

	for (size_t i = 0; i < threads->n; i++) {
		threads->rows[i].container = containers_of(containers, threads->rows[i].pid);
		if (out_is_json())
			out_row(thread_fields, &threads->rows[i]);
		else if (i < SHOWN)
			thread(&threads->rows[i], interval);
	}
	if (threads->n > SHOWN && !out_is_json())
		printf("... and %zu more thread%s\n", threads->n - SHOWN,
		       plural(threads->n - SHOWN));
	if (!out_is_json())
		putchar('\n');
	wait_threads_clear(threads);
}
