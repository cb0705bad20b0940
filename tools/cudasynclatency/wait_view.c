/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "base/escape.h"
#include "base/plural.h"
#include "cli/out.h"
#include "cli/row.h"
#include "proc/containers.h"
#include "cudasynclatency/wait_threads.h"
#include "cudasynclatency/wait_view.h"

enum { SHOWN = 10 };

OUT_WORD(row_type, "thread");

#define AT(f) offsetof(struct wait_thread_row, f)
static const struct field fields[] = {
	{ "type", NULL, 0, &row_type, 0 },
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "tid", NULL, 0, OUT_INT, AT(tid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },
	{ "container", NULL, 0, OUT_STR, AT(container) },
	{ "waits", NULL, 0, OUT_UINT, AT(count) },
	{ "waited_ns", NULL, 0, OUT_UINT, AT(total) },
	{ "share", NULL, 0, OUT_REAL, AT(share) },
	{ 0 }
};

static void text(const struct wait_thread_row *r, unsigned long long interval)
{
	printf("thread %d of pid %d (", r->tid, r->pid);
	escape_text(stdout, r->comm);
	printf(r->container ? ") in container %s" : ")", r->container);
	printf(" waited %s in %llu call%s, %.1f %% of %s\n", out_ns(r->total), r->count,
	       plural(r->count), 100 * r->share, out_ns(interval));
}

void wait_view_threads(struct wait_threads *threads, struct containers *containers, unsigned long long now)
{
	unsigned long long interval = wait_threads_finish(threads, now);

	for (size_t i = 0; i < threads->n; i++) {
		threads->rows[i].container = containers_of(containers, threads->rows[i].pid);
		if (out_is_json())
			out_row(fields, &threads->rows[i]);
		else if (i < SHOWN)
			text(&threads->rows[i], interval);
	}
	if (threads->n > SHOWN && !out_is_json())
		printf("... and %zu more thread%s\n", threads->n - SHOWN,
		       plural(threads->n - SHOWN));
	if (!out_is_json())
		putchar('\n');
	wait_threads_clear(threads);
}
