/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dwarf.h>
#include "elf/cfi_image.h"

enum { LEB = -1, SIGNED_LEB = -2, TWO_LEBS = -3, REFUSED = -4 };

/* Returns the size of an operation's operand. */
static int operand_of(unsigned char op)
{
	switch (op) {
	case DW_OP_addr:
	case DW_OP_const8u:
	case DW_OP_const8s:
		return 8;
	case DW_OP_const4u:
	case DW_OP_const4s:
		return 4;
	case DW_OP_const2u:
	case DW_OP_const2s:
	case DW_OP_bra:
	case DW_OP_skip:
		return 2;
	case DW_OP_const1u:
	case DW_OP_const1s:
	case DW_OP_pick:
	case DW_OP_deref_size:
		return 1;
	case DW_OP_constu:
	case DW_OP_plus_uconst:
		return LEB;
	case DW_OP_consts:
	case DW_OP_breg0 ... DW_OP_breg31:
		return SIGNED_LEB;
	case DW_OP_bregx:
		return TWO_LEBS;
	case DW_OP_deref:
	case DW_OP_dup ... DW_OP_over:
	case DW_OP_swap ... DW_OP_rot:
	case DW_OP_abs ... DW_OP_plus:
	case DW_OP_shl ... DW_OP_xor:
	case DW_OP_eq ... DW_OP_ne:
	case DW_OP_lit0 ... DW_OP_lit31:
	case DW_OP_nop:
		return 0;
	}
	return REFUSED;
}

bool cfi_expr_check(struct dwarf_bytes expr)
{
	bool ok = expr.at < expr.end;

	while (ok && expr.at < expr.end) {
		int size = operand_of(dwarf_number(&expr, 1));

		ok = size != REFUSED;
		if (size == LEB || size == TWO_LEBS)
			dwarf_uleb(&expr);
		if (size == SIGNED_LEB || size == TWO_LEBS)
			dwarf_sleb(&expr);
		if (size > 0)
			dwarf_skip(&expr, size);
		ok = ok && !expr.bad;
	}
	return ok;
}
