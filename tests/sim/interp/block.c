/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "block.h"
#include <stdlib.h>
#include <string.h>

static void frame_free(struct frame *frame)
{
	free(frame->reg);
	free(frame->ready);
	free(frame->param);
	free(frame);
}

void block_free(struct block *b)
{
	for (unsigned i = 0; b->warps && i < b->num_warps; i++) {
		struct warp *w = &b->warps[i];

		for (unsigned k = 0; k < w->num_frames; k++)
			frame_free(w->frames[k]);
		free(w->frames);
		free(w->local);
	}
	free(b->warps);
	free(b->shared);
	free(b);
}

static struct block *block_new(struct run *run)
{
	struct block *b = calloc(1, sizeof *b);

	if (!b)
		return NULL;
	b->run = run;
	b->num_warps = run->warps;
	b->shared = aligned_alloc(256, (run->shared_size + 511) & ~(size_t)255);
	b->warps = calloc(b->num_warps, sizeof *b->warps);
	if (!b->shared || !b->warps) {
		block_free(b);
		return NULL;
	}
	run->memory += run->shared_size + b->num_warps * sizeof *b->warps;
	return b;
}

/* Warp slots of the SM, the first free ones in a row. */
static unsigned slots_take(struct sm *sm, unsigned warps)
{
	unsigned first = 0, n = 0;

	for (unsigned i = 0; i < MAX_THREADS / 32 && n < warps; i++) {
		if (sm->slots[i / 32] >> i % 32 & 1)
			first = i + 1, n = 0;
		else
			n++;
	}
	if (n < warps)
		return 0;		/* cooperative grids of too many blocks: %warpid says nothing then */
	for (unsigned i = first; i < first + warps; i++)
		sm->slots[i / 32] |= 1u << i % 32;
	return first;
}

static bool warp_begin(struct block *b, unsigned i)
{
	struct run *run = b->run;
	struct warp *w = &b->warps[i];
	unsigned lanes = run->threads - i * 32 < 32 ? run->threads - i * 32 : 32;
	bool again = w->num_frames;

	w->run = run;
	w->block = b;
	w->index = i;
	w->frame = warp_frame(w, 0);
	if (!w->frame || !warp_local(w, run->kernel->local))
		return false;
	if (again) {
		memset(w->frame->reg, 0, run->kernel->slots * sizeof *w->frame->reg);
		memset(w->frame->ready, 0, run->kernel->slots * sizeof *w->frame->ready);
	}
	if (w->local_size)
		memset(w->local, 0, 32 * w->local_size);
	w->time = b->start + i * 3;
	w->outstanding = 0;
	w->alive = w->mask = lanes == 32 ? ~0u : (1u << lanes) - 1;
	w->pc = run->kernel->first;
	w->depth = w->num_splits = 0;
	w->met = 0;
	w->next_key = UINT64_MAX;
	w->patience = 0;
	w->forced = 0;
	return true;
}

bool block_begin(struct run *run, unsigned sm, uint64_t start)
{
	struct block *b = run->spare;

	if (b)
		run->spare = b->next;
	else
		b = block_new(run);
	if (!b)
		return false;
	memcpy(b->id, run->next_block, sizeof b->id);
	b->sm = sm;
	b->start = start;
	b->ended = 0;
	b->first_warp = slots_take(&run->sms[sm], b->num_warps);
	memset(b->shared, run->module->undefined, run->shared_size);
	memset(b->barriers, 0, sizeof b->barriers);
	b->next = run->sms[sm].blocks;
	run->sms[sm].blocks = b;
	run->sms[sm].num_blocks++;
	for (unsigned i = 0; i < b->num_warps; i++)
		if (!warp_begin(b, i))
			return false;
	for (unsigned i = 0; i < 3; i++) {
		if (++run->next_block[i] < run->grid->grid[i])
			return true;
		run->next_block[i] = 0;
	}
	run->more = false;
	return true;
}

void block_end(struct run *run, struct block *b)
{
	struct sm *sm = &run->sms[b->sm];
	struct block **at = &sm->blocks;

	while (*at != b)
		at = &(*at)->next;
	*at = b->next;
	sm->num_blocks--;
	for (unsigned i = b->first_warp; i < b->first_warp + b->num_warps && i < MAX_THREADS / 32; i++)
		sm->slots[i / 32] &= ~(1u << i % 32);
	b->next = run->spare;
	run->spare = b;
}
