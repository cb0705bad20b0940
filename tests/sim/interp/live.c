/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Compilers give each value of a kernel a register of its own.  Those that are not needed at the same time share a slot, so
 * that a warp's frame stays small: which are, is found as compilers do, backward over the blocks of instructions. */
#include "load.h"
#include "machine.h"
#include <stdlib.h>
#include <string.h>

/* Where more is to be found out, registers stay as they are: words of a set, times through the function. */
enum { BITS_MOST = 2 << 20, ROUNDS_MOST = 100 };

struct part {			/* instructions without a branch, from first to before end */
	unsigned first, end;
	uint64_t *in, *out, *used, *set;
};

struct live {
	const struct interp_module *m;
	struct interp_kernel *f;
	unsigned first, num;	/* instructions */
	unsigned regs, words;
	unsigned *part_of;	/* of the first instruction of each part, plus 1; else 0 */
	struct part *parts;
	unsigned num_parts;
	uint64_t *bits;
	unsigned *start, *stop;	/* of each register: instructions, from `first` on */
};

static bool is_branch(const struct insn *insn)
{
	return insn->exec == exec_branch || insn->exec == exec_brx;
}

static bool is_end(const struct insn *insn)
{
	return insn->exec == exec_exit || insn->exec == exec_return || insn->exec == exec_trap;
}

static bool get(const uint64_t *set, unsigned i)
{
	return set[i / 64] >> i % 64 & 1;
}

static void put(uint64_t *set, unsigned i)
{
	set[i / 64] |= 1ull << i % 64;
}

static bool parts_find(struct live *v)
{
	const struct insn *insns = v->m->insns + v->first;
	unsigned n = 0;

	v->part_of[0] = 1;
	for (unsigned i = 0; i < v->num; i++) {
		if (insns[i].exec == exec_branch)
			v->part_of[insns[i].target - v->first] = 1;
		for (unsigned k = 0; insns[i].exec == exec_brx && k < v->m->tables[insns[i].target][0]; k++)
			v->part_of[v->m->tables[insns[i].target][1 + k] - v->first] = 1;
		if ((is_branch(&insns[i]) || is_end(&insns[i])) && i + 1 < v->num)
			v->part_of[i + 1] = 1;
	}
	for (unsigned i = 0; i < v->num; i++)
		v->num_parts += v->part_of[i];
	v->words = (v->regs + 63) / 64;
	if ((uint64_t)v->num_parts * v->words > BITS_MOST)
		return false;
	v->parts = calloc(v->num_parts, sizeof *v->parts);
	v->bits = calloc((size_t)v->num_parts * v->words * 4, sizeof *v->bits);
	if (!v->parts || !v->bits)
		return false;
	for (unsigned i = 0; i < v->num; i++) {
		uint64_t *bits = v->bits + (size_t)n * v->words * 4;

		if (!v->part_of[i])
			continue;
		v->parts[n] = (struct part){ i, v->num, bits, bits + v->words, bits + 2 * v->words, bits + 3 * v->words };
		if (n)
			v->parts[n - 1].end = i;
		v->part_of[i] = ++n;
	}
	return true;
}

/* Calls a function for each register that an instruction uses, then for each that it sets. */
static void each(const struct live *v, unsigned i, void (*use)(void *, unsigned), void (*set)(void *, unsigned), void *ctx)
{
	const struct insn *insn = &v->m->insns[v->first + i];
	const struct operand *o = v->m->operands + insn->operands;

	if (insn->guard >= 0)
		use(ctx, (unsigned)insn->guard);
	for (unsigned k = 0; k < insn->sources; k++)
		if (o[insn->results + k].kind == OPERAND_REG)
			use(ctx, o[insn->results + k].n);
	for (unsigned k = 0; insn->exec == exec_return && k < v->f->num_returns; k++)
		if (v->f->returns[k].slot >= 0)
			use(ctx, (unsigned)v->f->returns[k].slot);
	for (unsigned k = 0; k < insn->results; k++)
		if (o[k].kind == OPERAND_REG)
			(insn->guard < 0 ? set : use)(ctx, o[k].n);	/* with a guard it may keep its value */
}

static void part_use(void *ctx, unsigned reg)
{
	struct part *part = ctx;

	if (!get(part->set, reg))
		put(part->used, reg);
}

static void part_set(void *ctx, unsigned reg)
{
	struct part *part = ctx;

	put(part->set, reg);
}

/* Adds what is needed where an instruction may go on. */
static void flow(const struct live *v, struct part *part, unsigned to)
{
	const struct part *next = &v->parts[v->part_of[to] - 1];

	for (unsigned w = 0; w < v->words; w++)
		part->out[w] |= next->in[w];
}

static bool solve(struct live *v)
{
	bool again = true;
	unsigned rounds = 0;

	for (unsigned p = 0; p < v->num_parts; p++)
		for (unsigned i = v->parts[p].first; i < v->parts[p].end; i++)
			each(v, i, part_use, part_set, &v->parts[p]);
	while (again && rounds++ < ROUNDS_MOST) {
		again = false;
		for (unsigned p = v->num_parts; p--; ) {
			struct part *part = &v->parts[p];
			const struct insn *last = &v->m->insns[v->first + part->end - 1];

			if (last->exec == exec_branch)
				flow(v, part, last->target - v->first);
			for (unsigned k = 0; last->exec == exec_brx && k < v->m->tables[last->target][0]; k++)
				flow(v, part, v->m->tables[last->target][1 + k] - v->first);
			if ((last->guard >= 0 || (!is_branch(last) && !is_end(last))) && part->end < v->num)
				flow(v, part, part->end);
			for (unsigned w = 0; w < v->words; w++) {
				uint64_t in = part->used[w] | (part->out[w] & ~part->set[w]);

				again |= in != part->in[w];
				part->in[w] = in;
			}
		}
	}
	return !again;
}

struct at {
	struct live *v;
	unsigned insn;
};

static void extend(void *ctx, unsigned reg)
{
	struct at *at = ctx;

	if (at->insn < at->v->start[reg])
		at->v->start[reg] = at->insn;
	if (at->insn > at->v->stop[reg] || at->v->stop[reg] == ~0u)
		at->v->stop[reg] = at->insn;
}

static void extend_set(struct at *at, const uint64_t *set)
{
	for (unsigned w = 0; w < at->v->words; w++)
		for (uint64_t left = set[w]; left; left &= left - 1)
			extend(at, w * 64 + (unsigned)__builtin_ctzll(left));
}

static void intervals(struct live *v)
{
	struct at at = { v, 0 };

	for (unsigned r = 0; r < v->regs; r++)
		v->start[r] = v->stop[r] = ~0u;
	for (unsigned i = 0; i < v->f->num_params; i++)
		if (v->f->params[i].slot >= 0)
			extend(&at, (unsigned)v->f->params[i].slot);
	for (unsigned p = 0; p < v->num_parts; p++) {
		const struct part *part = &v->parts[p];

		for (at.insn = part->first; at.insn < part->end; at.insn++)
			each(v, at.insn, extend, extend, &at);
		at.insn = part->first;
		extend_set(&at, part->in);
		at.insn = part->end - 1;
		extend_set(&at, part->out);
	}
}

/* Gives slots in the order of the instructions; returns how many, and the most 32-bit registers in use. */
static unsigned give_slots(struct live *v, const unsigned char *bits, unsigned *slots, unsigned *registers)
{
	unsigned *begins = calloc((size_t)v->num * 2 + v->regs * 3, sizeof *begins), *ends = begins + v->num, *next = ends + v->num,
		*next_end = next + v->regs, *spare = next_end + v->regs, num_spare = 0, num = 0, used = 0;

	if (!begins)
		return 0;
	for (unsigned r = v->regs; r--; ) {
		if (v->start[r] == ~0u)
			continue;
		next[r] = begins[v->start[r]];
		begins[v->start[r]] = r + 1;
		next_end[r] = ends[v->stop[r]];
		ends[v->stop[r]] = r + 1;
	}
	*registers = 0;
	for (unsigned i = 0; i < v->num; i++) {
		for (unsigned r = begins[i]; r; r = next[r - 1]) {
			slots[r - 1] = num_spare ? spare[--num_spare] : num++;
			used += bits[r - 1] > 32 ? 2 : bits[r - 1] > 1;
		}
		*registers = used > *registers ? used : *registers;
		for (unsigned r = ends[i]; r; r = next_end[r - 1]) {
			spare[num_spare++] = slots[r - 1];
			used -= bits[r - 1] > 32 ? 2 : bits[r - 1] > 1;
		}
	}
	free(begins);
	return num ? num : 1;
}

static void rename_all(struct loader *l, const struct live *v, const unsigned *slots)
{
	struct interp_module *m = l->m;

	for (unsigned i = v->first; i < v->first + v->num; i++) {
		struct insn *insn = &m->insns[i];
		struct operand *o = m->operands + insn->operands;

		if (insn->guard >= 0)
			insn->guard = (int)slots[insn->guard];
		for (unsigned k = 0; k < insn->results + (unsigned)insn->sources; k++)
			if (o[k].kind == OPERAND_REG)
				o[k].n = slots[o[k].n];
	}
	for (unsigned i = 0; i < v->f->num_params; i++)
		if (v->f->params[i].slot >= 0)
			v->f->params[i].slot = (int)slots[v->f->params[i].slot];
	for (unsigned i = 0; i < v->f->num_returns; i++)
		if (v->f->returns[i].slot >= 0)
			v->f->returns[i].slot = (int)slots[v->f->returns[i].slot];
}

bool live_compact(struct loader *l)
{
	struct live v = { .m = l->m, .f = l->f, .first = l->f->first, .num = l->m->num_insns - l->f->first, .regs = l->num_slots };
	unsigned *slots = calloc(v.regs + 1, sizeof *slots), num = 0;

	l->f->slots = l->num_slots;
	l->f->registers = 255;
	v.part_of = calloc(v.num + 1, sizeof *v.part_of);
	v.start = calloc((size_t)v.regs * 2 + 1, sizeof *v.start);
	v.stop = v.start + v.regs;
	if (!slots || !v.part_of || !v.start)
		return fail(l, "no memory", (struct ptx_str){ "", 0 });
	/* what is too large for that stays as it is */
	if (!l->wide && v.regs && parts_find(&v) && solve(&v)) {
		intervals(&v);
		num = give_slots(&v, l->slot_bits, slots, &l->f->registers);
	}
	if (num) {
		rename_all(l, &v, slots);
		l->f->slots = num;
		l->f->registers = l->f->registers < 12 ? 16 : l->f->registers + 4;
	}
	free(slots);
	free(v.part_of);
	free(v.start);
	free(v.parts);
	free(v.bits);
	return true;
}
