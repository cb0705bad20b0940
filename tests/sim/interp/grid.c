/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A grid's blocks over the SMs.  Those that are resident take turns of some hundred cycles, so that they can wait for each
 * other; within a block the turns are shorter. */
#include "block.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t memory_most = 512ull << 20;	/* of what is resident, where blocks can wait for others to end */

static enum interp_fault_kind refuse(struct interp_fault *fault, enum interp_fault_kind kind, const char *what,
				     const char *kernel)
{
	*fault = (struct interp_fault){ .kind = kind };
	snprintf(fault->text, sizeof fault->text, "%s, kernel %.100s", what, kernel);
	return kind;
}

static unsigned blocks_per_sm(const struct run *run)
{
	unsigned n = MAX_THREADS / (run->warps * 32);
	size_t each = (size_t)run->warps * run->kernel->slots * 264, shared = run->shared_size + 1024;

	n = n > MAX_BLOCKS ? MAX_BLOCKS : n;
	if (n > MAX_SHARED / shared)
		n = (unsigned)(MAX_SHARED / shared);
	while (n > 1 && n * each * run->num_sms > memory_most)
		n--;
	return n ? n : 1;
}

static bool fill(struct run *run, unsigned sm, unsigned most, uint64_t start)
{
	while (run->more && run->sms[sm].num_blocks < most)
		if (!block_begin(run, sm, start + 3 * run->sms[sm].num_blocks))
			return false;
	return true;
}

/* Runs a block for a turn; *progress: some lane could. */
static enum interp_fault_kind block_run(struct block *b, uint64_t until, bool *progress)
{
	uint64_t time = UINT64_MAX;
	bool ran;

	do {
		uint64_t next;

		for (unsigned i = 0; i < b->num_warps; i++)
			if (b->warps[i].mask && b->warps[i].time < time)
				time = b->warps[i].time;
		if (time == UINT64_MAX)
			return INTERP_OK;
		*progress = true;
		next = time + b->run->module->warp_turn < until ? time + b->run->module->warp_turn : until;
		time = UINT64_MAX;
		ran = false;
		for (unsigned i = 0; i < b->num_warps; i++) {
			struct warp *w = &b->warps[b->run->module->backwards ? b->num_warps - 1 - i : i];
			enum interp_fault_kind kind;

			if (!w->mask || w->time >= next)
				continue;
			ran = true;
			kind = warp_run(w, next);
			if (kind || b->run->steps > b->run->module->max_steps)
				return kind;
		}
	} while (ran);
	return INTERP_OK;
}

static uint64_t block_time(const struct block *b)
{
	uint64_t time = b->start;

	for (unsigned i = 0; i < b->num_warps; i++)
		if (b->warps[i].time > time)
			time = b->warps[i].time;
	return time;
}

/* Where no warp's time is before `until`, time goes on to the next one's. */
static uint64_t next_time(const struct run *run)
{
	uint64_t time = UINT64_MAX;

	for (unsigned s = 0; s < run->num_sms; s++)
		for (const struct block *b = run->sms[s].blocks; b; b = b->next)
			for (unsigned i = 0; i < b->num_warps; i++)
				if (b->warps[i].mask && b->warps[i].time < time)
					time = b->warps[i].time;
	return time;
}

static enum interp_fault_kind stuck(struct run *run, const char *what)
{
	refuse(run->fault, INTERP_STUCK, what, run->kernel->name);
	for (unsigned s = 0; s < run->num_sms; s++)
		if (run->sms[s].blocks) {
			memcpy(run->fault->block, run->sms[s].blocks->id, sizeof run->fault->block);
			break;
		}
	return INTERP_STUCK;
}

static enum interp_fault_kind run_blocks(struct run *run, unsigned most)
{
	uint64_t until = 0;

	for (;;) {
		bool progress = false, resident = false;
		uint64_t time = next_time(run);

		if (time == UINT64_MAX)
			time = until;
		until = time + run->module->turn;
		for (unsigned s = 0; s < run->num_sms; s++) {
			for (struct block *b = run->sms[s].blocks, *next; b; b = next) {
				enum interp_fault_kind kind = block_run(b, until, &progress);

				if (kind)
					return kind;
				next = b->next;
				resident = true;
				if (b->ended < b->num_warps)
					continue;
				time = block_time(b);
				run->end = time > run->end ? time : run->end;
				block_end(run, b);
				if (!fill(run, s, most, time + 20))
					return refuse(run->fault, INTERP_MEMORY, "no memory", run->kernel->name);
			}
		}
		if (!resident)
			return INTERP_OK;
		if (!progress)
			return stuck(run, "no warp can go on");
		if (run->steps > run->module->max_steps)
			return stuck(run, "too many instructions (SIM_KERNEL_STEPS)");
	}
}

static enum interp_fault_kind run_begin(struct run *run, struct interp_fault *fault)
{
	const struct interp_kernel *f = run->kernel;
	const struct interp_grid *g = run->grid;
	uint64_t threads = (uint64_t)g->block[0] * g->block[1] * g->block[2];
	uint64_t blocks = (uint64_t)g->grid[0] * g->grid[1] * g->grid[2];
	size_t fixed = run->module->shared + f->shared, align = run->module->dynamic_align;

	if (!threads || !blocks || g->block[0] > 1024 || g->block[1] > 1024 || g->block[2] > 64 || threads > f->max_threads)
		return refuse(fault, INTERP_RESOURCES, "a block has too many threads, or none", f->name);
	if (f->reqntid[0] && (g->block[0] != f->reqntid[0] || g->block[1] != f->reqntid[1] || g->block[2] != f->reqntid[2]))
		return refuse(fault, INTERP_RESOURCES, "a block has not the threads of .reqntid", f->name);
	if (f->shared + (f->uses_shared ? run->module->shared : 0) + g->shared > MAX_BLOCK_SHARED)
		return refuse(fault, INTERP_RESOURCES, "too much shared memory", f->name);
	run->threads = (unsigned)threads;
	run->warps = ((unsigned)threads + 31) / 32;
	run->dynamic = (fixed + align - 1) & ~(align - 1);
	run->shared_size = run->dynamic + g->shared;
	run->num_sms = g->sms ? g->sms : 1;
	run->clock = g->start_ns * 3 / 2;
	run->sms = calloc(run->num_sms, sizeof *run->sms);
	run->more = true;
	if (!run->sms)
		return refuse(fault, INTERP_MEMORY, "no memory", f->name);
	return INTERP_OK;
}

static void run_end(struct run *run)
{
	for (unsigned s = 0; run->sms && s < run->num_sms; s++)
		while (run->sms[s].blocks)
			block_end(run, run->sms[s].blocks);
	while (run->spare) {
		struct block *b = run->spare;

		run->spare = b->next;
		block_free(b);
	}
	free(run->sms);
	if (run->workspace)
		run->host->variable_free(run->host->ctx, run->workspace);
}

enum interp_fault_kind interp_launch(struct interp_kernel *f, struct interp_grid *grid, const void *params,
				     struct interp_fault *fault)
{
	struct run run = { .module = f->module, .kernel = f, .grid = grid, .fault = fault, .params = params,
			   .host = f->module->host };
	enum interp_fault_kind kind = run_begin(&run, fault);
	unsigned most;

	grid->end_ns = grid->start_ns;
	grid->instructions = 0;
	if (kind)
		return kind;
	most = blocks_per_sm(&run);
	if (grid->cooperative) {
		uint64_t blocks = (uint64_t)grid->grid[0] * grid->grid[1] * grid->grid[2];

		most = (unsigned)((blocks + run.num_sms - 1) / run.num_sms);
		run.workspace = run.host->variable(run.host->ctx, 4096);
		if (!run.workspace)
			kind = refuse(fault, INTERP_MEMORY, "no memory", f->name);
	}
	/* one to each SM, then a second … */
	for (unsigned n = 1; !kind && n <= most && run.more; n++)
		for (unsigned s = 0; !kind && s < run.num_sms && run.more; s++)
			if (!fill(&run, s, n, 7 * s + 3 * n))
				kind = refuse(fault, INTERP_MEMORY, "no memory", f->name);
	if (!kind)
		kind = run_blocks(&run, most);
	grid->end_ns = grid->start_ns + cycles_ns(run.end);
	grid->instructions = run.steps;
	run_end(&run);
	return kind;
}
