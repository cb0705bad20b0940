/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dwarf.h>
#include <limits.h>
#include <string.h>
#include "base/die.h"
#include "elf/cfi_build.h"

/* A rule being made: the cells of the CFA and of each register at most. */
struct rule {
	struct cfi_cell cells[1 + CFI_REGISTERS];
};

/* Sets where a branch leads; false if that is not an operation.  libdw leaves the operand as it is:
 * relative to the end of this operation. */
static bool find_target(const Dwarf_Op *ops, size_t n, size_t at, struct cfi_op *op)
{
	long long to = (long long)ops[at].offset + 3 + (short)ops[at].number;
	size_t i = 0;

	while (i < n && (long long)ops[i].offset < to)
		i++;
	op->target = i;
	return i == n || (long long)ops[i].offset == to;
}

static bool convert(const Dwarf_Op *ops, size_t n, struct cfi_op *to)
{
	for (size_t i = 0; i < n; i++) {
		to[i] = (struct cfi_op){ .atom = ops[i].atom, .number = ops[i].number };
		if (ops[i].atom == DW_OP_bregx) {
			to[i].reg = ops[i].number < CFI_REGISTERS ? ops[i].number : CFI_REGISTERS;
			to[i].number = ops[i].number2;
		}
		if ((ops[i].atom == DW_OP_bra || ops[i].atom == DW_OP_skip) &&
		    !find_target(ops, n, i, &to[i]))
			return false;
	}
	return true;
}

/* Makes the cell that of an expression, which is kept once. */
static bool keep_expr(struct cfi_builder *b, const Dwarf_Op *ops, size_t n, struct cfi_cell *cell)
{
	struct cfi_op *new = b->ops + b->nops;
	size_t at = 0;

	if (n > CFI_MAX_EXPR || n > CFI_MAX_OPS - b->nops || !convert(ops, n, new))
		return false;
	while (memcmp(b->ops + at, new, n * sizeof(*new)))	/* at last it finds itself */
		at++;
	if (at + n > b->nops)
		b->nops = at + n;
	cell->value = at;
	cell->nops = n;
	return true;
}

static bool keep_value(Dwarf_Word value, struct cfi_cell *cell)
{
	cell->value = value;
	return (long long)value >= INT_MIN && (long long)value <= INT_MAX;
}

static bool read_cfa(struct cfi_builder *b, Dwarf_Frame *frame, struct cfi_cell *cell)
{
	Dwarf_Op *ops;
	size_t n;

	if (dwarf_frame_cfa(frame, &ops, &n) || !n)
		return false;
	*cell = (struct cfi_cell){ .kind = CFI_CFA };
	if (n == 1 && ops->atom == DW_OP_bregx) {
		cell->reg = ops->number;
		return ops->number < CFI_REGISTERS && keep_value(ops->number2, cell);
	}
	if (n == 1 && ops->atom >= DW_OP_breg0 && ops->atom < DW_OP_breg0 + CFI_REGISTERS) {
		cell->reg = ops->atom - DW_OP_breg0;
		return keep_value(ops->number, cell);
	}
	cell->kind = CFI_CFA_EXPR;
	return keep_expr(b, ops, n, cell);
}

/* One of libdw's own descriptions: DW_OP_regx; or DW_OP_call_frame_cfa [DW_OP_plus_uconst]
 * [DW_OP_stack_value]. */
static bool read_usual(const Dwarf_Op *ops, size_t n, struct cfi_cell *cell)
{
	Dwarf_Word off = 0;
	size_t i = 1;

	if (ops->atom == DW_OP_regx) {
		cell->kind = CFI_REGISTER;
		return ops->number < CFI_REGISTERS && keep_value(ops->number, cell);
	}
	if (i < n && ops[i].atom == DW_OP_plus_uconst)
		off = ops[i++].number;
	cell->kind = i < n && ops[i].atom == DW_OP_stack_value ? CFI_VALUE : CFI_SAVED;
	return ops->atom == DW_OP_call_frame_cfa && keep_value(off, cell);
}

static bool read_register(struct cfi_builder *b, Dwarf_Frame *frame, unsigned reg,
			  struct cfi_cell *cell)
{
	Dwarf_Op memory[3], *ops;
	size_t n;

	if (dwarf_frame_register(frame, reg, memory, &ops, &n))
		return false;
	*cell = (struct cfi_cell){ .reg = reg };
	if (!n)
		cell->kind = ops ? CFI_UNDEFINED : CFI_SAME;
	else if (ops == memory)
		return read_usual(ops, n, cell);
	else if (n < 2 || ops->atom != DW_OP_call_frame_cfa)
		return false;
	else {
		bool value = ops[n - 1].atom == DW_OP_stack_value;

		cell->kind = value ? CFI_VALUE_EXPR : CFI_SAVED_EXPR;
		return keep_expr(b, ops + 1, n - 1 - value, cell);
	}
	return true;
}

static bool read_rule(struct cfi_builder *b, Dwarf_Frame *frame, struct rule *rule)
{
	struct cfi_cell *to = rule->cells + 1, usual;

	if (!read_cfa(b, frame, rule->cells))
		return false;
	for (unsigned reg = 0; reg < CFI_REGISTERS; reg++) {
		if (!read_register(b, frame, reg, to))
			return false;
		usual = cfi_default(reg);
		to += !!memcmp(to, &usual, sizeof(usual));
	}
	rule->cells->n = to - rule->cells - 1;
	return true;
}

static bool same_rule(const struct cfi_cell *a, const struct cfi_cell *b)
{
	return a->n == b->n && !memcmp(a, b, (1 + a->n) * sizeof(*a));
}

/* Returns the index of the rule, which is kept once. */
static int keep_rule(struct cfi_builder *b, const struct cfi_cell *rule)
{
	size_t at = 0;

	while (at < b->ncells && !same_rule(b->cells + at, rule))
		at += 1 + b->cells[at].n;
	if (at == b->ncells) {
		memcpy(b->cells + at, rule, (1 + rule->n) * sizeof(*rule));
		b->ncells += 1 + rule->n;
	}
	return at;
}

bool cfi_build_row(struct cfi_builder *b, unsigned from, Dwarf_Frame *frame)
{
	struct rule rule;
	int index = read_rule(b, frame, &rule) ? keep_rule(b, rule.cells) : CFI_NO_RULE;

	if (b->nrows && b->rows[b->nrows - 1].rule == index)
		return true;
	if (b->nrows == CFI_MAX_ROWS)
		return false;
	b->rows[b->nrows++] = (struct cfi_row){ from, index };
	return true;
}

struct cfi *cfi_build(const struct cfi_builder *b)
{
	struct cfi head = { .nops = b->nops, .nrows = b->nrows, .ncells = b->ncells };
	struct cfi *c = xcalloc(1, cfi_size(&head));

	*c = head;
	memcpy(cfi_ops(c), b->ops, b->nops * sizeof(*b->ops));
	memcpy(cfi_rows(c), b->rows, b->nrows * sizeof(*b->rows));
	memcpy(cfi_cells(c), b->cells, b->ncells * sizeof(*b->cells));
	return c;
}
