/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "base/clock.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/top_screen.h"
#include "cudaleak/leak_head.h"
#include "cudaleak/leak_report.h"
#include "cudaleak/leak_view.h"
#include "proc/proc.h"
#include "session/process.h"
#include "session/filter.h"

/* Return true if a process that is followed used CUDA before tracing began. */
static bool is_any_early(const struct leak_report *r)
{
	const struct preexisting_process *e;

	for (e = r->preexisting->processes; e && !filter_wants(r->selected, e->pid); e = e->hh.next)
		;
	return e;
}

/* Prints in JSON the processes that used CUDA before tracing began, and have made no call since; returns true if
 * there are any. */
static bool report_early(const struct leak_report *r)
{
	const struct preexisting_process *e;
	struct mem_process *known;
	bool any = false;
	char comm[16];

	for (e = r->preexisting->processes; e; e = e->hh.next) {
		HASH_FIND_INT(r->memory->processes, &e->pid, known);
		if (known || !filter_wants(r->selected, e->pid) || !proc_comm(e->pid, comm))
			continue;
		any = true;
		leak_row_nothing(&r->view, e->pid, comm, "interval", false);
	}
	return any;
}

static void nothing(const struct leak_report *r)
{
	printf("[%s] nothing held: %llu allocation%s and %llu free%s %s", out_clock(), r->allocs,
	       plural(r->allocs), r->frees, plural(r->frees),
	       r->view.options.sample > 1 ? "recorded" : "seen");
	if (is_any_early(r))
		preexisting_text(r->preexisting, "allocations");
	putchar('\n');
}

/* Return true if there is something to say of the process. */
static bool is_due(const struct leak_report *r, const struct mem_process *p)
{
	return p->allocations || p->unknown || out_is_json() || r->view.growth;
}

static void report(struct leak_report *r, const char *at)
{
	const struct mem_process *p;
	bool any = false;

	preexisting_tidy(r->preexisting);
	r->view.options.now = clock_ns();
	for (p = r->memory->processes; p; p = p->hh.next)
		leak_row_devices(&r->view, p);
	for (p = r->memory->processes; p; p = p->hh.next) {
		if (!is_due(r, p))
			continue;
		leak_view_process(&r->view, p, at);
		any = true;
	}
	if (out_is_json() && !r->view.growth && !report_early(r) && !any)
		leak_row_nothing(&r->view, 0, NULL, at, true);
	else if (!out_is_json() && !any && !r->view.folded)
		nothing(r);
}

void leak_report_interval(struct leak_report *r)
{
	if (screen_is_open()) {
		r->screen.preexisting = is_any_early(r);
		leak_screen_update(&r->screen);
		return;
	}
	report(r, "interval");
	leak_view_mark(&r->view, r->memory, MEM_LAST);
	if (!r->reports++ && r->view.growth)
		leak_view_mark(&r->view, r->memory, MEM_FIRST);
}

void leak_report_exit(struct leak_report *r, const struct mem_process *process, unsigned long long now)
{
	enum mem_snapshot mark = r->view.options.mark;

	r->view.options.now = now;
	leak_row_devices(&r->view, process);
	if (r->view.growth)
		r->view.options.mark = MEM_FIRST;
	if (screen_is_open())
		leak_screen_exit(&r->screen, process);
	else
		leak_view_process(&r->view, process, "exit");
	r->view.options.mark = mark;
	r->exits = true;
}

/* From the first report to the end: if there were two, the second showed it. */
static void report_growth(struct leak_report *r, bool counted_out)
{
	if (counted_out && r->reports <= 2)
		return;
	r->view.options.mark = MEM_FIRST;
	report(r, "end");
}

void leak_report_end(struct leak_report *r, bool counted_out)
{
	bool live = screen_is_open();

	screen_close();
	leak_screen_end(&r->screen);
	if (!r->memory->processes && r->exits)
		return;
	if (r->view.growth)
		report_growth(r, counted_out);
	else if (live || !counted_out)
		report(r, "interval");
}
