/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dwarf.h>
#include "elf/cfi_expr.h"

/* STEPS: a loop in an expression must end. */
enum { DEPTH = 64, STEPS = 1024, WORD = 8, PAGE = 4096, BITS = 64 };

struct machine {
	struct cfi_frame *frame;
	const struct cfi_op *ops;
	size_t n, next;		/* next: the operation */
	size_t depth;
	unsigned long long stack[DEPTH];
	enum cfi_step status;	/* CFI_CALLER as long as nothing is wrong */
};

static void fail(struct machine *m, enum cfi_step status)
{
	if (m->status == CFI_CALLER)
		m->status = status;
}

static void push(struct machine *m, unsigned long long value)
{
	if (m->depth < DEPTH)
		m->stack[m->depth++] = value;
	else
		fail(m, CFI_BAD);
}

static unsigned long long pop(struct machine *m)
{
	if (m->depth)
		return m->stack[--m->depth];
	fail(m, CFI_BAD);
	return 0;
}

static void pick(struct machine *m, size_t i)
{
	if (i < m->depth)
		push(m, m->stack[m->depth - 1 - i]);
	else
		fail(m, CFI_BAD);
}

enum cfi_step cfi_frame_read(struct cfi_frame *f, unsigned long long at, unsigned long long *word)
{
	if (f->memory->read(f->memory->ctx, at, word))
		return CFI_CALLER;
	f->bad = at;
	return CFI_UNREADABLE;
}

enum cfi_step cfi_frame_reg(const struct cfi_frame *f, unsigned reg, unsigned long long *value)
{
	if (reg >= CFI_REGISTERS || !(f->regs->known & 1u << reg))
		return CFI_BAD;
	*value = f->regs->r[reg];
	return CFI_CALLER;
}

static void push_reg(struct machine *m, unsigned reg, long long off)
{
	unsigned long long value = 0;

	fail(m, cfi_frame_reg(m->frame, reg, &value));
	push(m, value + off);
}

static void deref(struct machine *m, size_t size)
{
	unsigned long long at = pop(m), word = 0;

	if (!size || size > WORD) {
		fail(m, CFI_BAD);
		return;
	}
	if (m->status != CFI_CALLER)
		return;
	fail(m, cfi_frame_read(m->frame, at, &word));
	push(m, size < WORD ? word & ((1ull << size * 8) - 1) : word);
}

/* Addresses in expressions are the file's, and it is mapped at whole pages. */
static void push_address(struct machine *m, unsigned long long addr)
{
	const struct cfi_frame *f = m->frame;
	unsigned long long rip = 0;

	fail(m, cfi_frame_reg(f, CFI_RIP, &rip));
	rip -= f->offset + f->cfi->shift;	/* the difference, or 1 more */
	push(m, addr + (rip & ~(PAGE - 1ull)));
}

static unsigned long long shift_right(unsigned long long a, unsigned long long b, bool arithmetic)
{
	unsigned long long fill = arithmetic && (long long)a < 0 ? ~0ull : 0;

	if (!b)
		return a;
	return b < BITS ? a >> b | fill << (BITS - b) : fill;
}

static unsigned long long divide(struct machine *m, unsigned long long a, unsigned long long b)
{
	if (!b)
		fail(m, CFI_BAD);
	else if (b == ~0ull)	/* the smallest number / -1 overflows */
		return -a;
	else
		return (long long)a / (long long)b;
	return 0;
}

static void binary(struct machine *m, unsigned atom)
{
	unsigned long long b = pop(m), a = pop(m);
	long long sa = a, sb = b;

	switch (atom) {
	case DW_OP_and:		push(m, a & b); break;
	case DW_OP_or:		push(m, a | b); break;
	case DW_OP_xor:		push(m, a ^ b); break;
	case DW_OP_plus:	push(m, a + b); break;
	case DW_OP_minus:	push(m, a - b); break;
	case DW_OP_mul:		push(m, a * b); break;
	case DW_OP_div:		push(m, divide(m, a, b)); break;
	case DW_OP_mod:		b ? push(m, a % b) : fail(m, CFI_BAD); break;
	case DW_OP_shl:		push(m, b < BITS ? a << b : 0); break;
	case DW_OP_shr:		push(m, shift_right(a, b, false)); break;
	case DW_OP_shra:	push(m, shift_right(a, b, true)); break;
	case DW_OP_eq:		push(m, sa == sb); break;
	case DW_OP_ne:		push(m, sa != sb); break;
	case DW_OP_lt:		push(m, sa < sb); break;
	case DW_OP_le:		push(m, sa <= sb); break;
	case DW_OP_gt:		push(m, sa > sb); break;
	case DW_OP_ge:		push(m, sa >= sb); break;
	default:		fail(m, CFI_BAD);
	}
}

static void exchange(struct machine *m, bool rot)
{
	unsigned long long a = pop(m), b = pop(m), c = rot ? pop(m) : 0;

	push(m, a);
	if (rot)
		push(m, c);
	push(m, b);
}

/* What is not a constant or a register. */
static void operate(struct machine *m, const struct cfi_op *op)
{
	unsigned long long a;

	switch (op->atom) {
	case DW_OP_nop:		break;
	case DW_OP_dup:		pick(m, 0); break;
	case DW_OP_over:	pick(m, 1); break;
	case DW_OP_pick:	pick(m, op->number); break;
	case DW_OP_drop:	pop(m); break;
	case DW_OP_swap:	exchange(m, false); break;
	case DW_OP_rot:		exchange(m, true); break;
	case DW_OP_deref:	deref(m, WORD); break;
	case DW_OP_deref_size:	deref(m, op->number); break;
	case DW_OP_abs:		a = pop(m); push(m, (long long)a < 0 ? -a : a); break;
	case DW_OP_neg:		push(m, -pop(m)); break;
	case DW_OP_not:		push(m, ~pop(m)); break;
	case DW_OP_plus_uconst:	push(m, pop(m) + op->number); break;
	case DW_OP_skip:	m->next = op->target; break;
	case DW_OP_bra:		m->next = pop(m) ? op->target : m->next; break;
	default:		binary(m, op->atom);
	}
}

static void run(struct machine *m, const struct cfi_op *op)
{
	switch (op->atom) {
	case DW_OP_addr:
		push_address(m, op->number);
		break;
	case DW_OP_const1u ... DW_OP_consts:
		push(m, op->number);
		break;
	case DW_OP_lit0 ... DW_OP_lit31:
		push(m, op->atom - DW_OP_lit0);
		break;
	case DW_OP_breg0 ... DW_OP_breg31:
		push_reg(m, op->atom - DW_OP_breg0, op->number);
		break;
	case DW_OP_bregx:
		push_reg(m, op->reg, op->number);
		break;
	default:
		operate(m, op);
	}
}

enum cfi_step cfi_expr_eval(struct cfi_frame *f, const struct cfi_cell *cell, bool with_cfa,
			    unsigned long long *result)
{
	struct machine m = { .frame = f, .ops = cfi_ops(f->cfi) + cell->value, .n = cell->nops };

	m.status = CFI_CALLER;
	if (with_cfa)
		push(&m, f->cfa);
	for (int i = 0; m.next < m.n && m.status == CFI_CALLER; i++) {
		if (i == STEPS)
			return CFI_BAD;
		run(&m, &m.ops[m.next++]);
	}
	*result = pop(&m);
	return m.status;
}
