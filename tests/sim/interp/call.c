/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "machine.h"
#include <string.h>

/* From a caller's operand to a callee's parameter, or back. */
static void copy_lane(struct frame *caller, const struct operand *o, struct frame *callee, const struct param *p, unsigned l,
		      const uint64_t *value, bool back)
{
	unsigned char *theirs = callee->param + (size_t)l * callee->param_size + p->offset;
	unsigned char *ours = caller->param + (size_t)l * caller->param_size + o->n;
	unsigned size = p->size;
	uint64_t v = 0;

	if (o->kind == OPERAND_PARAM && p->slot < 0) {
		size = size < o->size ? size : o->size;
		memcpy(back ? ours : theirs, back ? theirs : ours, size);
		return;
	}
	size = size < 8 ? size : 8;
	if (!back) {
		if (o->kind == OPERAND_PARAM)
			memcpy(&v, ours, o->size < 8 ? o->size : 8);
		else
			v = value[l];
		if (p->slot >= 0)
			callee->reg[p->slot][l] = v;
		else
			memcpy(theirs, &v, size);
		return;
	}
	if (p->slot >= 0)
		v = callee->reg[p->slot][l];
	else
		memcpy(&v, theirs, size);
	if (o->kind == OPERAND_REG)
		caller->reg[o->n][l] = v;
	else if (o->kind == OPERAND_PARAM)
		memcpy(ours, &v, o->size < 8 ? o->size : 8);
}

static const struct interp_kernel *callee_of(const struct interp_module *m, uint64_t address)
{
	uint64_t i = (address - WINDOW_CODE) / 16 - 1;

	if (address >> 56 << 56 != WINDOW_CODE || address % 16 || i >= m->num_functions)
		return NULL;
	return m->functions[i];
}

static enum interp_fault_kind enter(struct warp *w, const struct insn *insn, uint32_t on, const struct interp_kernel *f)
{
	const struct operand *o = insn_operands(w, insn) + insn->results + 1;
	struct frame *frame;
	unsigned targets[32];

	if (insn->sources - 1u < f->num_params || insn->results < f->num_returns)
		return warp_fault(w, on, INTERP_PC, 0, "a call of %s with too few arguments", f->name);
	frame = w->depth + 1 < MAX_DEPTH ? warp_frame(w, w->depth + 1) : NULL;
	if (!frame || !warp_local(w, frame->local + (size_t)f->local))
		return warp_fault(w, on, INTERP_ADDRESS, 0, "the stack overflows");
	w->frame = w->frames[w->depth];
	for (unsigned i = 0; i < f->num_params; i++) {
		uint64_t temp[32];
		const uint64_t *value = operand_read(w, &o[i], temp);

		for (uint32_t left = on; left; left &= left - 1)
			copy_lane(w->frame, &o[i], frame, &f->params[i], (unsigned)__builtin_ctz(left), value, false);
	}
	for (unsigned l = 0; l < 32; l++) {
		if (on >> l & 1)
			frame->back[l] = w->pc;
		targets[l] = f->first;
	}
	if (on == w->mask) {
		w->pc = f->first;
		w->depth++;
		w->frame = frame;
	} else {
		warp_scatter(w, on, targets, w->depth + 1);
	}
	return INTERP_OK;
}

enum interp_fault_kind exec_call(struct warp *w, const struct insn *insn, uint32_t on)
{
	uint64_t temp[32];
	const uint64_t *address = operand_read(w, insn_operands(w, insn) + insn->results, temp);
	uint64_t first = address[__builtin_ctz(on)];
	const struct interp_kernel *f = callee_of(w->run->module, first);
	uint32_t others = 0;

	for (uint32_t left = on; left; left &= left - 1)
		if (address[__builtin_ctz(left)] != first)
			others |= left & -left;
	if (!f)
		return warp_fault(w, on, INTERP_PC, first, "a call of what is no function");
	if (others)			/* they call something else, later */
		warp_split(w, others, w->pc - 1);
	on &= ~others;
	return f->defined ? enter(w, insn, on, f) : system_call(w, insn, on, f);
}

enum interp_fault_kind exec_return(struct warp *w, const struct insn *insn, uint32_t on)
{
	const struct interp_module *m = w->run->module;
	struct frame *frame = w->frame, *caller;
	const struct interp_kernel *f = m->functions[insn->target];
	bool uniform = true;
	unsigned first;

	if (!w->depth) {
		warp_exit(w, on);
		return INTERP_OK;
	}
	caller = w->frames[w->depth - 1];
	first = frame->back[__builtin_ctz(on)];
	for (uint32_t left = on; left; left &= left - 1) {
		unsigned l = (unsigned)__builtin_ctz(left);
		const struct insn *call = &m->insns[frame->back[l] - 1];

		uniform &= frame->back[l] == first;
		for (unsigned i = 0; i < f->num_returns && i < call->results; i++)
			copy_lane(caller, &insn_operands(w, call)[i], frame, &f->returns[i], l, NULL, true);
	}
	if (uniform && on == w->mask) {
		w->pc = first;
		w->depth--;
		w->frame = caller;
	} else {
		warp_scatter(w, on, frame->back, w->depth - 1);
	}
	return INTERP_OK;
}
