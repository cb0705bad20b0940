/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "machine.h"
#include "special.h"

const uint64_t *operand_read(const struct warp *w, const struct operand *o, uint64_t *temp)
{
	uint64_t all = 0;

	switch (o->kind) {
	case OPERAND_REG:
		if (!o->inverted)
			return w->frame->reg[o->n];
		for (unsigned l = 0; l < 32; l++)
			temp[l] = !(w->frame->reg[o->n][l] & 1);
		return temp;
	case OPERAND_CONST:
		return w->run->module->constants[o->n];
	case OPERAND_SPECIAL:
		special_read(w, o->n, temp);
		return temp;
	case OPERAND_LOCAL:
		all = w->frame->local + (uint64_t)o->n;
		break;
	case OPERAND_DYNAMIC:
		all = w->run->dynamic;
		break;
	default:
		break;
	}
	for (unsigned l = 0; l < 32; l++)
		temp[l] = all;
	return temp;
}

void operand_write(struct warp *w, const struct operand *o, const uint64_t *value, uint32_t on, unsigned cycles)
{
	uint64_t *d;

	if (o->kind != OPERAND_REG)
		return;
	d = w->frame->reg[o->n];
	if (on == ~0u)
		for (unsigned l = 0; l < 32; l++)
			d[l] = value[l];
	else
		for (uint32_t left = on; left; left &= left - 1)
			d[__builtin_ctz(left)] = value[__builtin_ctz(left)];
	w->frame->ready[o->n] = w->time + cycles;
}
