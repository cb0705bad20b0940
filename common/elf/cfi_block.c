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
	if (reg == CFI_RIP)
		return (struct cfi_cell){ .kind = CFI_SAVED, .reg = reg, .value = -WORD };
	if (reg == CFI_RSP)
		return (struct cfi_cell){ .kind = CFI_VALUE, .reg = reg };
	if (cfi_preserved() & 1u << reg)
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
	struct cfi_cell rip, rsp, rbp;

	*simple = (struct cfi_simple){ 0 };
	if (!rule)
		return false;
	rip = cfi_cell_of(rule, CFI_RIP);
	simple->end = rip.kind == CFI_UNDEFINED;
	if (simple->end)
		return true;
	rsp = cfi_cell_of(rule, CFI_RSP);
	rbp = cfi_cell_of(rule, CFI_RBP);
	simple->rbp = rule->reg == CFI_RBP;
	simple->cfa = rule->value;
	if (rbp.kind == CFI_SAVED && rbp.value < 0 && rbp.value % WORD == 0)
		simple->rbp_slot = -(rbp.value / WORD);
	return !c->signal && rule->kind == CFI_CFA && (simple->rbp || rule->reg == CFI_RSP) &&
	       rip.kind == CFI_SAVED && rip.value == -WORD && rsp.kind == CFI_VALUE && !rsp.value &&
	       (rbp.kind == CFI_SAME || simple->rbp_slot);
}
