/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Barriers of a block, and of a warp's lanes. */
#include "barrier.h"
#include "machine.h"
#include "warp_sync.h"
#include <string.h>

/* Lanes that do not exist or have ended count as arrived with the others of their warp. */
static bool complete(const struct block *b, const struct barrier *bar)
{
	unsigned count = 0;

	for (unsigned i = 0; i < b->num_warps; i++) {
		if (bar->arrived[i])
			count += (unsigned)__builtin_popcount(bar->arrived[i] | ~b->warps[i].alive);
		else if (!bar->exact && !b->warps[i].alive)
			count += 32;
	}
	return count >= bar->expected;
}

static void result_write(struct warp *w, const struct split *s, const struct barrier *bar)
{
	uint64_t value[32], result = s->insn->mode == BARRIER_POPC ? bar->count : s->insn->mode == BARRIER_AND ? bar->all : bar->any;
	struct frame *frame = w->frame;

	for (unsigned l = 0; l < 32; l++)
		value[l] = result;
	w->frame = w->frames[s->depth];
	operand_write(w, insn_operands(w, s->insn), value, s->mask, LAT_ALU);
	w->frame = frame;
}

static void release(struct block *b, unsigned which, uint64_t time)
{
	struct barrier *bar = &b->barriers[which];

	for (unsigned i = 0; i < b->num_warps; i++) {
		struct warp *w = &b->warps[i];
		bool woken = false;

		for (unsigned k = 0; k < w->num_splits; k++) {
			struct split *s = &w->splits[k];

			if (s->state != SPLIT_BARRIER || s->barrier != which)
				continue;
			if (s->insn->mode >= BARRIER_POPC)
				result_write(w, s, bar);
			s->state = SPLIT_RUNS;
			woken = true;
		}
		if (!woken)
			continue;
		if (w->time < time && !w->mask)
			w->time = time;
		warp_choose(w);
	}
	memset(bar, 0, sizeof *bar);
}

static uint64_t last_time(const struct block *b, const struct barrier *bar)
{
	uint64_t time = 0;

	for (unsigned i = 0; i < b->num_warps; i++)
		if (bar->arrived[i] && b->warps[i].time > time)
			time = b->warps[i].time;
	return time + LAT_BARRIER;
}

void barrier_left(struct block *b)
{
	for (unsigned i = 0; i < BARRIERS; i++)
		if (b->barriers[i].expected && complete(b, &b->barriers[i]))
			release(b, i, last_time(b, &b->barriers[i]));
}

enum interp_fault_kind exec_barrier(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct operand *o = insn_operands(w, insn) + insn->results;
	uint64_t temp[3][32];
	const uint64_t *which = operand_read(w, &o[0], temp[0]), *threads = operand_read(w, &o[1], temp[1]),
		*pred = operand_read(w, &o[2], temp[2]);
	unsigned first = (unsigned)__builtin_ctz(on), n = (uint32_t)which[first], count = (uint32_t)threads[first];
	struct block *b = w->block;
	struct barrier *bar;

	if (n >= BARRIERS || count % 32)
		return warp_fault(w, on, INTERP_INSTRUCTION, 0, "no such barrier, or no such number of threads");
	bar = &b->barriers[n];
	if (!bar->expected) {
		*bar = (struct barrier){ .expected = count ? count : b->num_warps * 32, .exact = count, .all = true };
	} else if (bar->expected != (count ? count : b->num_warps * 32)) {
		return warp_fault(w, on, INTERP_INSTRUCTION, 0, "a barrier is waited at by different numbers of threads");
	}
	bar->arrived[w->index] |= on;
	for (uint32_t left = on; left; left &= left - 1) {
		bool yes = pred[__builtin_ctz(left)] & 1;

		bar->any |= yes;
		bar->all &= yes;
		bar->count += yes;
	}
	if (insn->mode != BARRIER_ARRIVE)
		warp_wait(w, on, &(struct split){ .pc = w->pc, .depth = w->depth, .state = SPLIT_BARRIER, .barrier = n,
						  .insn = insn });
	if (complete(b, bar))
		release(b, n, last_time(b, bar));
	return INTERP_OK;
}

/* Those who wait for lanes that now wait, too, or have ended. */
void warp_sync_wake(struct warp *w)
{
	uint32_t waiting = 0;
	bool woken = false;

	for (unsigned i = 0; i < w->num_splits; i++)
		if (w->splits[i].state == SPLIT_WARP)
			waiting |= w->splits[i].mask;
	for (unsigned i = 0; i < w->num_splits; i++) {
		struct split *s = &w->splits[i];

		if (s->state != SPLIT_WARP || s->members & w->alive & ~waiting)
			continue;
		s->state = SPLIT_RUNS;
		w->met |= s->mask;
		woken = true;
	}
	if (woken)
		warp_choose(w);
}

bool warp_sync(struct warp *w, uint32_t members, uint32_t on)
{
	if (!(members & w->alive & ~on) || !(on & ~w->met)) {
		w->met &= ~on;
		return true;
	}
	warp_wait(w, on, &(struct split){ .pc = w->pc - 1, .depth = w->depth, .state = SPLIT_WARP, .members = members });
	warp_sync_wake(w);
	return false;
}

enum interp_fault_kind exec_warp_barrier(struct warp *w, const struct insn *insn, uint32_t on)
{
	uint64_t temp[32];

	warp_sync(w, (uint32_t)operand_read(w, insn_operands(w, insn), temp)[__builtin_ctz(on)], on);
	return INTERP_OK;
}
