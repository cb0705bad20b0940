/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include "cli/out.h"
#include "cudatop/hints.h"
#include "cudatop/limits.h"
#include "cudatop/rows.h"
#include "model/memory.h"
#include "proc/proc.h"

static double least(double share)
{
	return share < 1 ? share : 1;
}

static double fails(const struct top_row *r)
{
	return r->errors ? 1 : 0;
}

static void fails_by(const struct top_row *r, char text[HINT_EVIDENCE])
{
	snprintf(text, HINT_EVIDENCE, "%llu call%s returned an error", r->errors, plural(r->errors));
}

static double is_behind(const struct top_row *r)
{
	return r->behind != OUT_NONE && r->behind && !r->launches;	/* one that launches is only slower */
}

static void behind_by(const struct top_row *r, char text[HINT_EVIDENCE])
{
	snprintf(text, HINT_EVIDENCE, "rank %llu of %llu: %llu collectives behind, no launches", r->rank, r->nranks, r->behind);
}

static double hangs(const struct top_row *r)
{
	return r->job_rank >= 0 && !r->launches;
}

static void hangs_by(const struct top_row *r, char text[HINT_EVIDENCE])
{
	snprintf(text, HINT_EVIDENCE, "rank %d: in %s for %s, no launches", r->job_rank, r->call, out_ns(r->call_ns));
}

static double memory_grows(const struct top_row *r)
{
	return r->memory_grown.share;
}

static void memory_grows_by(const struct top_row *r, char text[HINT_EVIDENCE])
{
	const struct top_grown *g = &r->memory_grown;

	snprintf(text, HINT_EVIDENCE, "%s: +%s in %.0f s, %.0f %% of its maximum", g->what == GROWS_PINNED ? "pinned memory" : "device memory",
		 out_bytes(g->by), g->s, 100 * g->share);
}

/* Where loads take the time, that they stay comes after it. */
static double handles_grow(const struct top_row *r)
{
	const struct top_grown *g = &r->handles_grown;

	return g->what == GROWS_HANDLES && r->load_share >= top_limits[LIMIT_LOADS] ? g->share * least(r->load_share) / 2 : g->share;
}

static void handles_grow_by(const struct top_row *r, char text[HINT_EVIDENCE])
{
	const struct top_grown *g = &r->handles_grown;
	const unsigned char kind = CUDA_CODE + (g->what - GROWS_HANDLES);
	char others[24] = "none";

	if (g->other)
		snprintf(others, sizeof(others), "%llu", g->other);
	snprintf(text, HINT_EVIDENCE, "%s%ss: +%llu in %.0f s, %s %s", memory_name(kind), memory_name_more(memory_name(kind)), g->by, g->s, others,
		 kind == CUDA_CODE ? "unloaded" : "destroyed");
}

static double used_grows(const struct top_row *r)
{
	return r->used_grown.share;
}

static void used_grows_by(const struct top_row *r, char text[HINT_EVIDENCE])
{
	const struct top_grown *g = &r->used_grown;

	snprintf(text, HINT_EVIDENCE, "memory that NVML reports: +%s in %.0f s, allocations +%s", out_bytes(g->by), g->s, out_bytes(g->other));
}

static bool loads_often(const struct top_row *r)
{
	const double most = top_limits[LIMIT_MANY_LOADS];

	return r->images >= most && r->images / r->interval >= most;
}

/* By the time that was measured or, as most of a compiler's is not seen, by the number of images: half at most, as they may be compiled. */
static double loads(const struct top_row *r)
{
	double guess = loads_often(r) ? r->images / r->interval * top_limits[LIMIT_LOAD_S] : 0;

	guess = guess < .5 ? guess : .5;
	return guess > 0 || r->load_share >= top_limits[LIMIT_LOADS] ? least(guess > r->load_share ? guess : r->load_share) : 0;
}

static void loads_by(const struct top_row *r, char text[HINT_EVIDENCE])
{
	snprintf(text, HINT_EVIDENCE, "%.0f %% of the time loading or compiling code, %.0f images/s", 100 * r->load_share,
		 r->interval > 0 ? r->images / r->interval : 0);
}

static double waits(const struct top_row *r)
{
	return r->wait_share >= top_limits[LIMIT_WAITS] ? least(r->wait_share) : 0;
}

static void waits_by(const struct top_row *r, char text[HINT_EVIDENCE])
{
	snprintf(text, HINT_EVIDENCE, "%.0f %% of the time in functions that wait for the GPU", 100 * r->wait_share);
}

static double copies(const struct top_row *r)
{
	const double rate = r->interval > 0 ? r->copies / r->interval : 0;

	const double guess = rate * top_limits[LIMIT_COPY_S], time = r->interval > 0 ? r->copy_ns / 1e9 / r->interval : 0;

	return rate >= top_limits[LIMIT_MANY_COPIES] && (double)r->bytes / r->copies < top_limits[LIMIT_SMALL_COPY] ?
	       least(guess > time ? guess : time) : 0;
}

static void copies_by(const struct top_row *r, char text[HINT_EVIDENCE])
{
	snprintf(text, HINT_EVIDENCE, "%.0f copies/s of %s on average", r->copies / r->interval, out_bytes(r->bytes / r->copies));
}

/* Without copies, if these have a hint of their own. */
static double calls(const struct top_row *r)
{
	const double others = r->interval > 0 && copies(r) > 0 ? r->cuda_share - r->copy_ns / 1e9 / r->interval : r->cuda_share;

	return others >= top_limits[LIMIT_CALLS] ? least(others) : 0;
}

static void calls_by(const struct top_row *r, char text[HINT_EVIDENCE])
{
	snprintf(text, HINT_EVIDENCE, "%.0f %% of the time in calls of CUDA, %.0f %% in %s", 100 * r->cuda_share,
		 100.0 * r->busiest_ns / r->cuda_ns * r->cuda_share, r->busiest);
}

static double launches(const struct top_row *r)
{
	return r->launch_rate >= top_limits[LIMIT_MANY_LAUNCHES] && r->wait_share < top_limits[LIMIT_WAITS] ?
	       least(r->launch_rate * top_limits[LIMIT_LAUNCH_S]) : 0;
}

static void launches_by(const struct top_row *r, char text[HINT_EVIDENCE])
{
	snprintf(text, HINT_EVIDENCE, "%.0f launches/s", r->launch_rate);
}

static double idles(const struct top_row *r)
{
	return r->launches && r->gpu_busy < top_limits[LIMIT_BUSY] ? 1 - r->gpu_busy : 0;	/* NAN: unknown */
}

static void idles_by(const struct top_row *r, char text[HINT_EVIDENCE])
{
	snprintf(text, HINT_EVIDENCE, "the GPU was busy for %.0f %% of the time, by %s", 100 * r->gpu_busy,
		 isnan(r->gpu_share) ? "NVML" : "its GPU time");
}

/* Where two explain the same, the first one comes first. */
static const struct top_hint all[] = {
	{ "fails", HINT_FIRST, fails, fails_by, { { "cudatrace -x -k", HINT_STACKS, "lines whose calls fail, their errors" } } },
	{ "behind", HINT_FIRST, is_behind, behind_by, { { "ncclhang", HINT_ALL, "what the rank does instead" } } },
	{ "hangs", HINT_FIRST, hangs, hangs_by, { { "ncclhang", HINT_ALL, "what each rank does, by line" } } },
	{ "grows", HINT_MEMORY, memory_grows, memory_grows_by, {
		{ "cudaleak --growth", HINT_STACKS, "lines that allocate what stays" },
		{ "cudaleak --account", HINT_PID, "tensors, free pieces, libraries" } } },
	{ "grows", HINT_MEMORY, handles_grow, handles_grow_by, {
		{ "cudaleak --handles", HINT_STACKS, "lines that make what stays" } } },
	{ "grows", HINT_MEMORY, used_grows, used_grows_by, {
		{ "cudaleak --account", HINT_PID, "code, contexts, limits" } } },
	{ "loads", HINT_TIME, loads, loads_by, { { "cudatrace -e jit -k", HINT_STACKS, "lines that load or compile code" } } },
	{ "waits", HINT_TIME, waits, waits_by, { { "cudasynclatency -k", HINT_STACKS, "lines that wait for the GPU" } } },
	{ "calls", HINT_TIME, calls, calls_by, { { "cudatrace -S -k", HINT_STACKS, "lines that call CUDA, number and time" } } },
	{ "copies", HINT_TIME, copies, copies_by, { { "cudamemcpysize -k", HINT_STACKS, "lines that make small copies" } } },
	{ "launches", HINT_TIME, launches, launches_by, { { "cudalaunchtop -k", HINT_STACKS, "lines that launch small kernels" } } },
	{ "GPU idle?", HINT_REST, idles, idles_by, {
		{ "cudalaunchtop --gaps", HINT_STACKS, "lines it waits for; easiest with -c" } } },
};

_Static_assert(sizeof(all) / sizeof(*all) <= TOP_HINTS, "all fit");

static bool comes_before(const struct top_hint *a, const struct top_hint *b, const struct top_row *r)
{
	if ((a->kind == HINT_FIRST) != (b->kind == HINT_FIRST))
		return a->kind == HINT_FIRST;
	return a->explains(r) > b->explains(r);
}

static void insert(const struct top_hint **hints, size_t n, const struct top_hint *h, const struct top_row *r)
{
	for (; n && comes_before(h, hints[n - 1], r); n--)
		hints[n] = hints[n - 1];
	hints[n] = h;
}

size_t top_hints(const struct top_row *r, const struct top_hint *hints[TOP_HINTS])
{
	bool explained = false;
	size_t n = 0;

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
		const struct top_hint *h = &all[i];

		if ((h->kind == HINT_REST && explained) || !(h->explains(r) > 0))
			continue;
		insert(hints, n++, h, r);
		explained |= h->kind == HINT_TIME;
	}
	return n;
}

void top_hint_command(const struct top_hint *h, int i, int pid, bool python, char text[HINT_COMMAND])
{
	const enum hint_adds adds = h->commands[i].adds;
	const int n = snprintf(text, HINT_COMMAND, "%s%s", h->commands[i].command, python && adds == HINT_STACKS ? " --stack python" : "");

	if (adds != HINT_ALL)
		snprintf(text + n, HINT_COMMAND - n, " -p %d", pid);
}

bool top_runs_python(int pid)
{
	char path[PATH_MAX];
	const char *slash = proc_exe(pid, path, sizeof(path)) ? strrchr(path, '/') : NULL;

	return slash && !strncmp(slash + 1, "python", strlen("python"));
}

void top_hint_set(struct top_row *r)
{
	const struct top_hint *hints[TOP_HINTS];

	r->hint = "-";
	if (!top_hints(r, hints))
		return;
	r->hint = hints[0]->word;
	hints[0]->evidence(r, r->evidence);
	top_hint_command(hints[0], 0, r->pid, top_runs_python(r->pid), r->next);
}
