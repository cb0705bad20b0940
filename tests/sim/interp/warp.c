/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "machine.h"
#include "warp_sync.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATIENCE = 100 };

static uint64_t key_of(unsigned depth, unsigned pc)
{
	return (uint64_t)(MAX_DEPTH - depth) << 32 | pc;
}

/* Makes the current split the last of those that wait. */
static void put_back(struct warp *w)
{
	if (w->mask)
		w->splits[w->num_splits++] = (struct split){ .mask = w->mask, .pc = w->pc, .depth = w->depth };
	w->mask = 0;
}

/* Makes this split, and those at the same place, the current one. */
static void take(struct warp *w, unsigned chosen)
{
	uint64_t key = key_of(w->splits[chosen].depth, w->splits[chosen].pc);
	unsigned kept = 0;

	w->pc = w->splits[chosen].pc;
	w->depth = w->splits[chosen].depth;
	w->frame = w->frames[w->depth];
	w->mask = 0;
	w->next_key = UINT64_MAX;
	for (unsigned i = 0; i < w->num_splits; i++) {
		const struct split *s = &w->splits[i];
		uint64_t other = key_of(s->depth, s->pc);

		if (s->state == SPLIT_RUNS && other == key) {
			w->mask |= s->mask;
			continue;
		}
		if (s->state == SPLIT_RUNS && other < w->next_key)
			w->next_key = other;
		w->splits[kept++] = *s;
	}
	w->num_splits = kept;
}

void warp_choose(struct warp *w)
{
	uint64_t low = UINT64_MAX;
	int chosen = -1;

	put_back(w);
	for (unsigned i = 0; i < w->num_splits; i++) {
		uint64_t key = key_of(w->splits[i].depth, w->splits[i].pc);

		if (w->splits[i].state == SPLIT_RUNS && key < low) {
			low = key;
			chosen = (int)i;
		}
	}
	if (chosen >= 0)
		take(w, (unsigned)chosen);
	else
		w->next_key = UINT64_MAX;
}

/* Lanes that spin at a low address would keep those from running that they wait for: the split that has waited longest
 * gets a turn. */
static void take_turns(struct warp *w)
{
	unsigned first = 0;

	w->patience = PATIENCE;
	if (w->next_key == UINT64_MAX)
		return;
	while (w->splits[first].state != SPLIT_RUNS)
		first++;
	w->forced = w->time + w->run->module->split_turn;
	put_back(w);
	take(w, first);
}

void warp_branch(struct warp *w, uint32_t taken, unsigned target)
{
	uint32_t rest = w->mask & ~taken;
	bool back = target < w->pc;

	if (!rest) {
		w->pc = target;
	} else {
		w->splits[w->num_splits++] = (struct split){ .mask = taken, .pc = target, .depth = w->depth };
		w->mask = rest;
		warp_choose(w);
	}
	if (back && w->num_splits && --w->patience < 0)
		take_turns(w);
}

void warp_scatter(struct warp *w, uint32_t lanes, const unsigned *targets, unsigned depth)
{
	w->mask &= ~lanes;
	put_back(w);
	while (lanes) {
		unsigned target = targets[__builtin_ctz(lanes)];
		uint32_t same = 0;

		for (uint32_t left = lanes; left; left &= left - 1)
			if (targets[__builtin_ctz(left)] == target)
				same |= left & -left;
		w->splits[w->num_splits++] = (struct split){ .mask = same, .pc = target, .depth = depth };
		lanes &= ~same;
	}
	warp_choose(w);
}

void warp_split(struct warp *w, uint32_t lanes, unsigned pc)
{
	uint64_t key = key_of(w->depth, pc);

	w->mask &= ~lanes;
	w->splits[w->num_splits++] = (struct split){ .mask = lanes, .pc = pc, .depth = w->depth };
	w->next_key = key < w->next_key ? key : w->next_key;
}

void warp_wait(struct warp *w, uint32_t lanes, const struct split *split)
{
	w->mask &= ~lanes;
	put_back(w);
	w->splits[w->num_splits] = *split;
	w->splits[w->num_splits++].mask = lanes;
	warp_choose(w);
}

void warp_exit(struct warp *w, uint32_t lanes)
{
	w->mask &= ~lanes;
	w->alive &= ~lanes;
	if (!w->mask)
		warp_choose(w);
	if (w->alive)
		warp_sync_wake(w);
	else
		w->block->ended++;
	barrier_left(w->block);
}

enum interp_fault_kind warp_fault(struct warp *w, uint32_t lanes, enum interp_fault_kind kind, uint64_t addr,
				  const char *format, ...)
{
	struct interp_fault *f = w->run->fault;
	const struct insn *insn = &w->run->module->insns[w->pc ? w->pc - 1 : 0];
	const unsigned *size = w->run->grid->block;
	unsigned thread = w->index * 32 + (lanes ? (unsigned)__builtin_ctz(lanes) : 0);
	char what[80], text[400];
	va_list args;

	va_start(args, format);
	vsnprintf(what, sizeof what, format, args);
	va_end(args);
	f->kind = kind;
	f->addr = addr;
	memcpy(f->block, w->block->id, sizeof f->block);
	f->thread[0] = thread % size[0];
	f->thread[1] = thread / size[0] % size[1];
	f->thread[2] = thread / size[0] / size[1];
	snprintf(text, sizeof text, "%s, kernel %.40s, block %u,%u,%u, thread %u,%u,%u: %.*s", what, w->run->kernel->name,
		 f->block[0], f->block[1], f->block[2], f->thread[0], f->thread[1], f->thread[2],
		 (int)(insn->text_size < 60 ? insn->text_size : 60), insn->text);
	memcpy(f->text, text, sizeof f->text);
	f->text[sizeof f->text - 1] = 0;
	return kind;
}

struct frame *warp_frame(struct warp *w, unsigned depth)
{
	const struct interp_module *m = w->run->module;
	const struct interp_kernel *f = w->run->kernel;
	unsigned slots = depth ? m->call_slots : f->slots, param = depth ? m->call_param : f->frame_param;
	struct frame *frame, **frames;

	if (depth < w->num_frames)
		return w->frames[depth];
	frames = reallocarray(w->frames, depth + 1, sizeof *frames);
	frame = frames ? calloc(1, sizeof *frame) : NULL;
	w->frames = frames ? frames : w->frames;
	if (!frame)
		return NULL;
	param = (param + 15) & ~15u;
	frame->param_size = param;
	frame->reg = aligned_alloc(64, ((size_t)slots + 1) * sizeof *frame->reg);
	frame->ready = calloc((size_t)slots + 1, sizeof *frame->ready);
	frame->param = calloc(32, (size_t)param + 16);
	if (!frame->reg || !frame->ready || !frame->param) {
		free(frame->reg);
		free(frame->ready);
		free(frame->param);
		free(frame);
		return NULL;
	}
	memset(frame->reg, 0, ((size_t)slots + 1) * sizeof *frame->reg);
	frame->local = depth ? (unsigned)(f->local + 15) / 16 * 16 + (depth - 1) * ((m->call_local + 15) / 16 * 16) : 0;
	w->run->memory += ((size_t)slots + 1) * 264 + 32 * (size_t)param;
	w->frames[depth] = frame;
	w->num_frames = depth + 1;
	return frame;
}

bool warp_local(struct warp *w, size_t size)
{
	unsigned char *local;

	if (size <= w->local_size)
		return true;
	size = (size * 3 / 2 + 15) & ~(size_t)15;
	local = calloc(32, size);
	if (!local)
		return false;
	for (unsigned l = 0; w->local_size && l < 32; l++)
		memcpy(local + l * size, w->local + l * w->local_size, w->local_size);
	free(w->local);
	w->run->memory += 32 * (size - w->local_size);
	w->local = local;
	w->local_size = size;
	return true;
}

/* Who needs a value waits for it, also where its own guard is false: as scoreboards do. */
static void scoreboard(struct warp *w, const struct insn *insn)
{
	const struct operand *o = insn_operands(w, insn) + insn->results;
	const uint64_t *ready = w->frame->ready;
	uint64_t time = w->time;

	if (insn->guard >= 0 && ready[insn->guard] > time)
		time = ready[insn->guard];
	for (unsigned i = 0; i < insn->sources; i++)
		if (o[i].kind == OPERAND_REG && ready[o[i].n] > time)
			time = ready[o[i].n];
	w->time = time;
}

static uint32_t guard_lanes(const struct warp *w, const struct insn *insn)
{
	const uint64_t *p = w->frame->reg[insn->guard];
	uint32_t on = 0;

	for (unsigned l = 0; l < 32; l++)
		on |= (uint32_t)(p[l] & 1) << l;
	return (insn->guard_not ? ~on : on) & w->mask;
}

enum interp_fault_kind warp_run(struct warp *w, uint64_t until)
{
	const struct insn *insns = w->run->module->insns;
	unsigned issue = w->run->module->issue;

	while (w->mask && w->time < until) {
		const struct insn *insn = &insns[w->pc];
		uint32_t on = w->mask;
		enum interp_fault_kind kind;

		if (w->num_splits) {
			uint64_t key = key_of(w->depth, w->pc);

			if (key == w->next_key || (key > w->next_key && w->time >= w->forced)) {
				warp_choose(w);
				continue;
			}
		}
		scoreboard(w, insn);
		if (insn->guard >= 0)
			on = guard_lanes(w, insn);
		w->pc++;
		w->run->steps++;
		if (on || insn->always) {
			kind = insn->exec(w, insn, on);
			if (kind)
				return kind;
		}
		w->time += issue;
	}
	return INTERP_OK;
}
