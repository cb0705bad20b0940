/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which 64-bit parameters of a kernel are addresses: those that reach an address by mov, add and the like.  One look from
 * the top: enough for what compilers write. */
#include "load.h"
#include "machine.h"
#include <stdlib.h>
#include <string.h>

/* A parameter's word of 8 bytes, from 1; 0: none is there. */
static unsigned word_at(const struct interp_kernel *f, int64_t offset)
{
	for (unsigned i = 0; i < f->num_params; i++) {
		int64_t at = offset - (int64_t)f->params[i].offset;

		if (at >= 0 && at < 512 && at % 8 == 0 && at + 8 <= (int64_t)f->params[i].size)
			return i * 64 + (unsigned)at / 8 + 1;
	}
	return 0;
}

static void is_address(struct interp_kernel *f, unsigned word)
{
	struct interp_param *p = &f->infos[(word - 1) / 64];

	p->addresses |= 1ull << (word - 1) % 64;
	p->pointer |= p->size == 8;
}

/* Return true if the sum of an address and something is an address, too. */
static bool passes(const struct insn *insn)
{
	static const char *const ops[] = { "add.s64", "add.u64", "sub.s64", "sub.u64", "selp.b64", "selp.u64",
					   "mad.wide.s32", "mad.wide.u32" };

	if (insn->exec == exec_mov || insn->exec == exec_cvta)
		return true;
	for (unsigned i = 0; insn->exec == exec_alu && i < sizeof ops / sizeof *ops; i++)
		if (memmem(insn->text, insn->text_size < 24 ? insn->text_size : 24, ops[i], strlen(ops[i])))
			return true;
	return false;
}

bool pointers_find(struct loader *l)
{
	const struct interp_module *m = l->m;
	struct interp_kernel *f = l->f;
	unsigned *from;		/* which parameter's word each register has */

	if (!f->entry)
		return true;
	from = calloc(l->num_slots + 1, sizeof *from);
	if (!from)
		return fail(l, "no memory", (struct ptx_str){ "", 0 });
	for (unsigned i = f->first; i < m->num_insns; i++) {
		const struct insn *insn = &m->insns[i];
		const struct operand *o = m->operands + insn->operands, *source = o + insn->results;
		bool memory = insn->exec == exec_load || insn->exec == exec_store || insn->exec == exec_atomic;
		unsigned has = 0;

		if (memory && source->kind == OPERAND_REG && from[source->n])
			is_address(f, from[source->n]);
		if (insn->exec == exec_load && insn->access.space == SPACE_ENTRY_PARAM && source->kind == OPERAND_CONST) {
			for (unsigned k = 0; k < insn->results && insn->access.size == 8; k++)
				if (o[k].kind == OPERAND_REG)
					from[o[k].n] = word_at(f, (int64_t)m->constants[source->n][0] + insn->access.offset + 8 * k);
			continue;
		}
		for (unsigned k = 0; passes(insn) && !has && k < insn->sources; k++)
			if (source[k].kind == OPERAND_REG && source[k].bits == 64 && from[source[k].n])
				has = from[source[k].n];
		if (has && insn->exec == exec_cvta)
			is_address(f, has);
		for (unsigned k = 0; k < insn->results; k++)
			if (o[k].kind == OPERAND_REG)
				from[o[k].n] = k ? 0 : has;
	}
	free(from);
	return true;
}
