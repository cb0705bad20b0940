/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dwarf.h>
#include <string.h>
#include "elf/cfi_image.h"

/* REGISTERS: DWARF's number of rip + 1; those of the vector registers follow.  MAX_DEPTH: of
 * remembered rows, one or two in real programs. */
enum { REGISTERS = 17, MAX_DEPTH = 16, MAX_EXPR = 512, LOW_BITS = 0x3f, SHORT = 64 };

struct program {
	const struct cfi_cie *cie;
	struct dwarf_bytes in;
	unsigned char *to;
	unsigned long long pc, end;
	size_t rows;
	int depth;
};

/* Operands: r register, u ULEB128, s SLEB128, b block with an expression. */
static const char *operands_of(unsigned char op)
{
	switch (op) {
	case DW_CFA_nop:
	case DW_CFA_remember_state:
	case DW_CFA_restore_state:
		return "";
	case DW_CFA_offset_extended:
	case DW_CFA_val_offset:
	case DW_CFA_def_cfa:
	case DW_CFA_GNU_negative_offset_extended:
		return "ru";
	case DW_CFA_offset_extended_sf:
	case DW_CFA_val_offset_sf:
	case DW_CFA_def_cfa_sf:
		return "rs";
	case DW_CFA_restore_extended:
	case DW_CFA_undefined:
	case DW_CFA_same_value:
	case DW_CFA_def_cfa_register:
		return "r";
	case DW_CFA_register:
		return "rr";
	case DW_CFA_def_cfa_offset:
	case DW_CFA_GNU_args_size:
		return "u";
	case DW_CFA_def_cfa_offset_sf:
		return "s";
	case DW_CFA_def_cfa_expression:
		return "b";
	case DW_CFA_expression:
	case DW_CFA_val_expression:
		return "rb";
	}
	switch (op & ~LOW_BITS) {
	case DW_CFA_offset:
		return "u";
	case DW_CFA_restore:
		return "";
	}
	return NULL;
}

static bool read_block(struct dwarf_bytes *in)
{
	unsigned long long size = dwarf_uleb(in);
	struct dwarf_bytes expr = *in;

	if (size > MAX_EXPR)
		return false;
	dwarf_skip(in, size);
	expr.end = in->at;
	return !in->bad && cfi_expr_check(expr);
}

/* Reads the operands.  Sets *unneeded if the instruction is about a register above those. */
static bool read_operands(struct program *p, unsigned char op, const char *kinds, bool *unneeded)
{
	unsigned long long reg = op & ~LOW_BITS ? op & LOW_BITS : 0;
	bool ok = true;

	*unneeded = reg >= REGISTERS;
	for (; *kinds && ok; kinds++) {
		switch (*kinds) {
		case 'r':
			if (dwarf_uleb(&p->in) >= REGISTERS)
				*unneeded = true;
			break;
		case 'u':
			dwarf_uleb(&p->in);
			break;
		case 's':
			dwarf_sleb(&p->in);
			break;
		case 'b':
			ok = read_block(&p->in);
			break;
		}
	}
	return ok && !p->in.bad;
}

static bool keep_depth(struct program *p, unsigned char op)
{
	p->depth += (op == DW_CFA_remember_state) - (op == DW_CFA_restore_state);
	return p->depth >= 0 && p->depth <= MAX_DEPTH;
}

static bool copy_other(struct program *p, unsigned char op, const unsigned char *from)
{
	const char *kinds = operands_of(op);
	bool unneeded, cfa = op == DW_CFA_def_cfa || op == DW_CFA_def_cfa_sf ||
			     op == DW_CFA_def_cfa_register;

	if (!kinds || !keep_depth(p, op) || !read_operands(p, op, kinds, &unneeded))
		return false;
	if (unneeded)		/* in DW_CFA_register's second operand, the rule is lost with it */
		return !cfa && op != DW_CFA_register;
	memcpy(p->to, from, p->in.at - from);
	p->to += p->in.at - from;
	return true;
}

/* Return true if the instruction advances; sets *pc to the address of the new row. */
static bool advances(struct program *p, unsigned char op, unsigned long long *pc)
{
	unsigned long long n;

	if (op == DW_CFA_set_loc) {
		*pc = dwarf_pointer(&p->in, p->cie->encoding, 0);
		return true;
	}
	if ((op & ~LOW_BITS) == DW_CFA_advance_loc)
		n = op & LOW_BITS;
	else if (op == DW_CFA_advance_loc1)
		n = dwarf_number(&p->in, 1);
	else if (op == DW_CFA_advance_loc2)
		n = dwarf_number(&p->in, 2);
	else if (op == DW_CFA_advance_loc4)
		n = dwarf_number(&p->in, 4);
	else
		return false;
	*pc = p->pc + n * p->cie->code_align;
	return true;
}

/* Starts a row; false if that is not within the function. */
static bool new_row(struct program *p, unsigned long long pc)
{
	unsigned long long by = pc - p->pc;

	if (p->in.bad || pc < p->pc || pc >= p->end)
		return false;
	if (by < SHORT) {
		*p->to++ = DW_CFA_advance_loc | by;
	} else {
		*p->to++ = DW_CFA_advance_loc4;
		memcpy(p->to, &by, 4);
		p->to += 4;
	}
	p->rows += by > 0;
	p->pc = pc;
	return true;
}

unsigned long long cfi_program_copy(struct dwarf_bytes program, const struct cfi_cie *cie,
				    unsigned long long pc, unsigned long long end, bool cut,
				    unsigned char **to, size_t *rows)
{
	struct program p = { .cie = cie, .in = program, .to = *to, .pc = pc, .end = end, .rows = 1 };
	unsigned long long next = 0;
	bool ok = true;

	while (ok && p.in.at < p.in.end) {
		const unsigned char *from = p.in.at;
		unsigned char op = dwarf_number(&p.in, 1);

		ok = advances(&p, op, &next) ? new_row(&p, next) : copy_other(&p, op, from);
	}
	*to = p.to;
	*rows = p.rows;
	/* an advance to the end or beyond only ends the last row */
	return (ok && !cut) || (!p.in.bad && next >= end && next > p.pc) ? end : p.pc;
}
