/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "elf/cfi_block.h"

enum { WORD = 8 };

size_t cfi_size(const struct cfi *c)
{
	return sizeof(*c) + c->nops * sizeof(struct cfi_op) + c->nrows * sizeof(struct cfi_row) +
	       c->ncells * sizeof(struct cfi_cell);
}

bool cfi_covers(const struct cfi *c, unsigned long long offset)
{
	return offset >= c->start && offset < c->end;
}

void cfi_range(const struct cfi *c, unsigned long long *start, unsigned long long *end)
{
	*start = c->start;
	*end = c->end;
}

bool cfi_signal_frame(const struct cfi *c)
{
	return c->signal;
}

struct cfi_cell cfi_default(unsigned reg)
{
	if (reg == UNWIND_RA && UNWIND_PUSHED != 0)
		return (struct cfi_cell){ .kind = CFI_SAVED, .reg = reg, .value = -UNWIND_PUSHED };
	if (reg == UNWIND_SP)
		return (struct cfi_cell){ .kind = CFI_VALUE, .reg = reg };
	if (UNWIND_PRESERVED >> reg & 1)
		return (struct cfi_cell){ .kind = CFI_SAME, .reg = reg };
	return (struct cfi_cell){ .kind = CFI_UNDEFINED, .reg = reg };
}

const struct cfi_cell *cfi_rule_at(const struct cfi *c, unsigned long long offset)
{
	const struct cfi_row *rows = cfi_rows(c);
	size_t low = 0, high = c->nrows;

	if (!cfi_covers(c, offset))
		return NULL;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (rows[mid].from <= offset - c->start)
			low = mid + 1;
		else
			high = mid;
	}
	return low && rows[low - 1].rule != CFI_NO_RULE ? &cfi_cells(c)[rows[low - 1].rule] : NULL;
}

struct cfi_cell cfi_cell_of(const struct cfi_cell *rule, unsigned reg)
{
	for (size_t i = 1; i <= rule->n; i++)
		if (rule[i].reg == reg)
			return rule[i];
	return cfi_default(reg);
}

bool cfi_simple(const struct cfi *c, unsigned long long offset, struct cfi_simple *simple)
{
	const struct cfi_cell *rule = cfi_rule_at(c, offset);
	struct cfi_cell ra, sp, fp;

	*simple = (struct cfi_simple){ 0 };
	if (!rule)
		return false;
	ra = cfi_cell_of(rule, UNWIND_RA);
	simple->end = ra.kind == CFI_UNDEFINED;
	if (simple->end)
		return true;
	sp = cfi_cell_of(rule, UNWIND_SP);
	fp = cfi_cell_of(rule, UNWIND_FP);
	simple->fp = rule->reg == UNWIND_FP;
	simple->cfa = rule->value;
	if (fp.kind == CFI_SAVED && fp.value < 0 && fp.value % WORD == 0)
		simple->fp_slot = -(fp.value / WORD);
	return !c->signal && rule->kind == CFI_CFA && (simple->fp || rule->reg == UNWIND_SP) &&
	       ra.kind == CFI_SAVED && ra.value == -WORD * (int)UNWIND_RA_WORDS(simple->fp_slot) &&
	       sp.kind == CFI_VALUE && !sp.value && (simple->fp_slot || (fp.kind == CFI_SAME && UNWIND_PUSHED != 0));
}
