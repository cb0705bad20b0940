/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "elf/cfi_expr.h"

static enum cfi_step find_cfa(struct cfi_frame *f, const struct cfi_cell *rule)
{
	enum cfi_step status;

	if (rule->kind == CFI_CFA_EXPR)
		return cfi_expr_eval(f, rule, false, &f->cfa);
	status = cfi_frame_reg(f, rule->reg, &f->cfa);
	f->cfa += rule->value;
	return status;
}

/* Sets *value to what the register was in the caller.  CFI_BAD if that is not known. */
static enum cfi_step recover(struct cfi_frame *f, const struct cfi_cell *cell,
			     unsigned long long *value)
{
	unsigned long long at;
	enum cfi_step status;

	switch (cell->kind) {
	case CFI_SAME:
		return cfi_frame_reg(f, cell->reg, value);
	case CFI_REGISTER:
		return cfi_frame_reg(f, cell->value, value);
	case CFI_SAVED:
		return cfi_frame_read(f, f->cfa + cell->value, value);
	case CFI_VALUE:
		*value = f->cfa + cell->value;
		return CFI_CALLER;
	case CFI_SAVED_EXPR:
		status = cfi_expr_eval(f, cell, true, &at);
		return status == CFI_CALLER ? cfi_frame_read(f, at, value) : status;
	case CFI_VALUE_EXPR:
		return cfi_expr_eval(f, cell, true, value);
	}
	return CFI_BAD;
}

/* Replaces one register.  Only without rip and rsp is there no caller. */
static enum cfi_step replace(struct cfi_frame *f, const struct cfi_cell *cell, struct cfi_regs *caller)
{
	unsigned long long value = 0;
	enum cfi_step status = recover(f, cell, &value);

	caller->r[cell->reg] = value;
	if (status == CFI_CALLER)
		caller->known |= 1u << cell->reg;
	else
		caller->known &= ~(1u << cell->reg);
	return cell->reg == CFI_RIP || cell->reg == CFI_RSP ? status : CFI_CALLER;
}

/* Makes *caller, which has the callee's registers, the caller's.  A rule has the registers in order, so
 * that rip is last. */
static enum cfi_step replace_all(struct cfi_frame *f, const struct cfi_cell *rule,
				 struct cfi_regs *caller)
{
	const struct cfi_cell rip = cfi_default(CFI_RIP), rsp = cfi_default(CFI_RSP);
	const struct cfi_cell *cell = rule + 1, *end = cell + rule->n;
	enum cfi_step status;

	caller->known &= cfi_preserved();
	status = replace(f, &rsp, caller);
	for (; cell < end && status == CFI_CALLER; cell++)
		status = replace(f, cell, caller);
	if (status == CFI_CALLER && (!rule->n || end[-1].reg != CFI_RIP))
		status = replace(f, &rip, caller);
	return status;
}

enum cfi_step cfi_step(const struct cfi *c, unsigned long long offset, struct cfi_regs *regs,
		       const struct cfi_memory *memory, unsigned long long *bad)
{
	const struct cfi_cell *rule = cfi_rule_at(c, offset);
	struct cfi_frame f = { .cfi = c, .regs = regs, .memory = memory, .offset = offset };
	struct cfi_regs caller = *regs;
	enum cfi_step status;

	*bad = 0;
	if (!rule)
		return CFI_BAD;
	if (rule->n && rule[rule->n].reg == CFI_RIP && rule[rule->n].kind == CFI_UNDEFINED)
		return CFI_END;
	status = find_cfa(&f, rule);
	if (status == CFI_CALLER)
		status = replace_all(&f, rule, &caller);
	*bad = f.bad;
	if (status != CFI_CALLER)
		return status;
	/* such a rule would lead here again */
	if (caller.r[CFI_RIP] == regs->r[CFI_RIP] && caller.r[CFI_RSP] == regs->r[CFI_RSP])
		return CFI_BAD;
	*regs = caller;
	return CFI_CALLER;
}
