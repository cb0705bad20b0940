/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "ptxrun_same.h"
#include "ptxrun_file.h"
#include "machine.h"
#include "ptxrun_world.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* MOVED: the same with all variables elsewhere, shared ones too, and shared memory that is not 0. */
enum { ORIGINAL, REWRITTEN, MOVED, MODULES };

/* From the best to the worst for what is said of a kernel; DIFFERS is an error. */
enum result { SAME, CLOCKS, ADDRESSES, RACES, IDLE, FAULT, DIFFERS, RESULTS };
static const char *const names[RESULTS] = { "same", "clocks", "addresses", "races", "idle", "fault", "differs" };

struct shape {
	unsigned grid[3], block[3];
};

static const struct shape shapes[] = {
	{ { 1, 1, 1 }, { 32, 1, 1 } }, { { 1, 1, 1 }, { 64, 1, 1 } }, { { 2, 1, 1 }, { 64, 1, 1 } },
	{ { 3, 2, 1 }, { 37, 1, 1 } }, { { 2, 2, 1 }, { 16, 16, 1 } },
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* An order in which a GPU may run what is in a kernel, and how long it takes. */
struct order {
	uint64_t turn, split_turn, start_ns;
	unsigned issue;
	bool backwards;
};

/* One warp after another: it does not count how long each instruction takes. */
static const struct order usual = { 100000, 2000, 1000000007, 1, false };
static const struct order slower = { 100000, 6000, 1234567890123, 3, false };
static const struct order others[] = {
	{ 100000, 2000, 1000000007, 1, true },
	{ 250, 2000, 1000000007, 1, false },
	{ 70, 200, 1000000007, 1, true },
	{ 100000, 100, 1000000007, 1, false },
	{ 100000, 100000, 1000000007, 1, false },
};

struct comparison {
	struct world *world;
	struct world_module modules[MODULES];
	struct interp_kernel *kernels[MODULES];	/* the same of each */
	uint64_t steps;				/* that the rewritten one may take */
};

struct outcome {
	struct interp_fault fault;
	uint64_t steps;
};

static struct outcome launch(struct comparison *c, int which, const struct shape *shape, const struct order *order)
{
	struct interp_kernel *kernel = c->kernels[which];
	struct interp_grid grid = { .shared = 16384, .sms = 1, .id = 1, .start_ns = order->start_ns };
	struct interp_module *m = c->modules[which].module;
	struct outcome outcome = { { .kind = INTERP_OK }, 0 };

	memcpy(grid.grid, shape->grid, sizeof grid.grid);
	memcpy(grid.block, kernel->reqntid[0] ? kernel->reqntid : shape->block, sizeof grid.block);
	m->turn = m->warp_turn = which == REWRITTEN ? 30 * order->turn : order->turn;
	m->split_turn = order->split_turn;
	m->issue = order->issue;
	m->backwards = order->backwards;
	m->undefined = which == MOVED ? 0x3d : 0;
	m->max_steps = which == REWRITTEN ? c->steps : STEPS_MOST;
	world_fill(c->world);
	world_restore(&c->modules[which]);
	world_launch(c->world, c->kernels[ORIGINAL], kernel, &grid, &outcome.fault);
	outcome.steps = grid.instructions;
	return outcome;
}

/* Return true if a module leaves what was saved of the original, with the same fault. */
static bool leaves_same(struct comparison *c, int which, const struct outcome *saved, const struct outcome *now)
{
	if (saved->fault.kind || now->fault.kind)
		return saved->fault.kind == now->fault.kind;
	return world_saved(c->world, &c->modules[ORIGINAL], &c->modules[which]);
}

/* What is saved is what the original leaves; the rewritten kernel left something else.  Return why, if the original
 * itself does not always leave the same. */
static enum result explain(struct comparison *c, const struct shape *shape, const struct outcome *saved,
			   const struct outcome *rewritten)
{
	enum interp_fault_kind kind = rewritten->fault.kind;
	enum result why = DIFFERS;

	for (int i = -2; i < (int)(sizeof others / sizeof *others) && why == DIFFERS; i++) {
		const struct order *order = i == -2 ? &usual : i == -1 ? &slower : &others[i];
		struct outcome now = launch(c, i == -2 ? MOVED : ORIGINAL, shape, order);

		if (leaves_same(c, i == -2 ? MOVED : ORIGINAL, saved, &now))
			continue;
		if (kind && kind != saved->fault.kind && now.fault.kind != kind)
			continue;	/* another difference does not explain a fault */
		why = i == -2 ? ADDRESSES : i == -1 && kernel_reads_clocks(c->kernels[ORIGINAL]) ? CLOCKS : RACES;
	}
	return why;
}

/* Runs the original with arguments that let it do something, if there are any, and saves what it leaves. */
static struct outcome prepare(struct comparison *c, const struct shape *shape, bool *idle)
{
	struct outcome outcome = { { .kind = INTERP_OK }, 0 };
	int quiet = -1;

	for (unsigned i = 0; i < WORLD_ARGUMENTS; i++) {
		c->world->arguments = i;
		outcome = launch(c, ORIGINAL, shape, &usual);
		*idle = !world_changed(c->world, &c->modules[ORIGINAL]);
		if (!outcome.fault.kind && !*idle)
			break;
		if (!outcome.fault.kind && quiet < 0)
			quiet = (int)i;
	}
	if (outcome.fault.kind || *idle) {
		c->world->arguments = quiet < 0 ? 0 : (unsigned)quiet;
		outcome = launch(c, ORIGINAL, shape, &usual);
		*idle = true;
	}
	world_save(c->world, &c->modules[ORIGINAL]);
	return outcome;
}

static enum result compare(struct comparison *c, const struct shape *shape)
{
	struct outcome saved, now;
	char what[sizeof c->world->differs] = "faults";
	enum result result;
	bool idle = true;

	saved = prepare(c, shape, &idle);
	if (saved.fault.kind == INTERP_STUCK)
		return FAULT;		/* nobody knows where it would have come to */
	c->steps = STEPS_MOST + 1000 * saved.steps;	/* a probe has some hundred instructions, and loops */
	now = launch(c, REWRITTEN, shape, &usual);
	if (leaves_same(c, REWRITTEN, &saved, &now))
		return saved.fault.kind ? FAULT : idle ? IDLE : SAME;
	if (!saved.fault.kind && !now.fault.kind)
		memcpy(what, c->world->differs, sizeof what);
	result = explain(c, shape, &saved, &now);
	if (result == DIFFERS)
		printf("  %s with blocks of %u,%u,%u, arguments %u: %s %s; %s %s\n", what, shape->block[0],
		       shape->block[1], shape->block[2], c->world->arguments, fault_name(saved.fault.kind),
		       saved.fault.kind ? saved.fault.text : "", fault_name(now.fault.kind),
		       now.fault.kind ? now.fault.text : "");
	return result;
}

static void compare_kernel(struct comparison *c, unsigned *counts)
{
	const char *separator = ": ";
	int said = RESULTS;

	memset(counts, 0, RESULTS * sizeof *counts);
	for (unsigned i = 0; i < SHAPES; i++)
		counts[compare(c, &shapes[i])]++;
	for (int i = counts[DIFFERS] ? DIFFERS : 0; i < RESULTS && said == RESULTS; i++)
		if (counts[i])
			said = i;
	printf("%s %s", names[said], c->kernels[ORIGINAL]->name);
	for (int i = 0; i < RESULTS && counts[said] < SHAPES; i++)
		if (counts[i]) {
			printf("%s%u %s", separator, counts[i], names[i]);
			separator = ", ";
		}
	putchar('\n');
}

int same(const char *original, const char *rewritten)
{
	struct comparison c = { .world = world_new() };
	struct interp_kernel *k;
	int status = 0;

	c.world->quiet = true;
	c.modules[ORIGINAL] = world_module(load_file(original, c.world, false));
	c.modules[REWRITTEN] = world_module(load_file(rewritten, c.world, false));
	c.modules[MOVED] = world_module(load_file(original, c.world, true));
	for (unsigned i = 0; (k = interp_kernel_at(c.modules[ORIGINAL].module, i)); i++) {
		unsigned counts[RESULTS];

		for (int m = 0; m < MODULES; m++)
			c.kernels[m] = interp_kernel(c.modules[m].module, k->name);
		if (!c.kernels[REWRITTEN]) {
			printf("missing %s\n", k->name);
			status = 1;
			continue;
		}
		compare_kernel(&c, counts);
		status |= counts[DIFFERS] != 0;
	}
	for (int m = 0; m < MODULES; m++)
		world_module_free(&c.modules[m]);
	world_free(c.world);
	return status;
}
