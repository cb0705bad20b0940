/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dwarf.h>
#include "elf/cfi_block.h"

/* The frame that is left. */
struct frame {
	const struct cfi *cfi;
	const struct cfi_regs *regs;
	const struct cfi_memory *memory;
	unsigned long long offset;	/* of pc, or of pc - 1 */
	unsigned long long cfa, bad;
};

/* STEPS: a loop in an expression must end. */
enum { DEPTH = 64, STEPS = 1024, WORD = 8, PAGE = 4096, BITS = 64 };

struct machine {
	struct frame *frame;
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

/* Reads the word at an address; CFI_UNREADABLE, with bad set, if that is not possible. */
static enum cfi_step frame_read(struct frame *f, unsigned long long at, unsigned long long *word)
{
	if (f->memory->read(f->memory->ctx, at, word))
		return CFI_CALLER;
	f->bad = at;
	return CFI_UNREADABLE;
}

/* Returns a register's value; CFI_BAD if it is not known. */
static enum cfi_step frame_reg(const struct frame *f, unsigned reg, unsigned long long *value)
{
	if (reg >= UNWIND_REGISTERS || !(f->regs->known & 1ull << reg))
		return CFI_BAD;
	*value = f->regs->r[reg];
	return CFI_CALLER;
}

static void push_reg(struct machine *m, unsigned reg, long long off)
{
	unsigned long long value = 0;

	fail(m, frame_reg(m->frame, reg, &value));
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
	fail(m, frame_read(m->frame, at, &word));
	push(m, size < WORD ? word & ((1ull << size * 8) - 1) : word);
}

/* Addresses in expressions are the file's, and it is mapped at whole pages. */
static void push_address(struct machine *m, unsigned long long addr)
{
	const struct frame *f = m->frame;
	unsigned long long pc = 0;

	fail(m, frame_reg(f, UNWIND_PC, &pc));
	pc -= f->offset + f->cfi->shift;	/* the difference, or 1 more */
	push(m, addr + (pc & ~(PAGE - 1ull)));
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

/* Locations that are neither a constant nor a register. */
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

/* Evaluates the expression of a cell (DWARF 5, 2.5), with the CFA on the stack if with_cfa is true.  Returns
 * CFI_CALLER with *result set, CFI_UNREADABLE or CFI_BAD. */
static enum cfi_step evaluate(struct frame *f, const struct cfi_cell *cell, bool with_cfa,
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

static enum cfi_step find_cfa(struct frame *f, const struct cfi_cell *rule)
{
	enum cfi_step status;

	if (rule->kind == CFI_CFA_EXPR)
		return evaluate(f, rule, false, &f->cfa);
	status = frame_reg(f, rule->reg, &f->cfa);
	f->cfa += rule->value;
	return status;
}

/* Sets *value to what the register was in the caller.  CFI_BAD if that is not known. */
static enum cfi_step recover(struct frame *f, const struct cfi_cell *cell,
			     unsigned long long *value)
{
	unsigned long long at;
	enum cfi_step status;

	switch (cell->kind) {
	case CFI_SAME:
		return frame_reg(f, cell->reg, value);
	case CFI_REGISTER:
		return frame_reg(f, cell->value, value);
	case CFI_SAVED:
		return frame_read(f, f->cfa + cell->value, value);
	case CFI_VALUE:
		*value = f->cfa + cell->value;
		return CFI_CALLER;
	case CFI_SAVED_EXPR:
		status = evaluate(f, cell, true, &at);
		return status == CFI_CALLER ? frame_read(f, at, value) : status;
	case CFI_VALUE_EXPR:
		return evaluate(f, cell, true, value);
	}
	return CFI_BAD;
}

/* Replaces one register.  Only without pc and stack pointer is there no caller. */
static enum cfi_step replace(struct frame *f, const struct cfi_cell *cell, struct cfi_regs *caller)
{
	unsigned long long value = 0;
	enum cfi_step status = recover(f, cell, &value);

	caller->r[cell->reg] = value;
	if (status == CFI_CALLER)
		caller->known |= 1ull << cell->reg;
	else
		caller->known &= ~(1ull << cell->reg);
	return 1ull << cell->reg & (1ull << UNWIND_RA | 1ull << UNWIND_PC | 1ull << UNWIND_SP) ? status : CFI_CALLER;
}

/* Sets the pc of a caller whose return address is known, unless the rule has one of its own: that of a signal handler's
 * return. */
static void set_pc(struct cfi_regs *caller)
{
	if (UNWIND_PC != UNWIND_RA && !(caller->known & 1ull << UNWIND_PC)) {
		caller->r[UNWIND_PC] = caller->r[UNWIND_RA];
		caller->known |= 1ull << UNWIND_PC;
	}
	caller->r[UNWIND_PC] = CODE_ADDRESS(caller->r[UNWIND_PC]);
}

/* Makes *caller, which has the callee's registers, the caller's. */
static enum cfi_step replace_all(struct frame *f, const struct cfi_cell *rule,
				 struct cfi_regs *caller)
{
	const struct cfi_cell ra = cfi_default(UNWIND_RA), sp = cfi_default(UNWIND_SP);
	const struct cfi_cell *cell = rule + 1, *end = cell + rule->n;
	enum cfi_step status;

	caller->known &= UNWIND_PRESERVED;
	status = replace(f, &sp, caller);
	for (; cell < end && status == CFI_CALLER; cell++)
		status = replace(f, cell, caller);
	if (status == CFI_CALLER && !(caller->known >> UNWIND_RA & 1))
		status = replace(f, &ra, caller);
	set_pc(caller);
	return status;
}

enum cfi_step cfi_step(const struct cfi *c, unsigned long long offset, struct cfi_regs *regs,
		       const struct cfi_memory *memory, unsigned long long *bad)
{
	const struct cfi_cell *rule = cfi_rule_at(c, offset);
	struct frame f = { .cfi = c, .regs = regs, .memory = memory, .offset = offset };
	struct cfi_regs caller = *regs;
	enum cfi_step status;

	*bad = 0;
	if (!rule)
		return CFI_BAD;
	if (cfi_cell_of(rule, UNWIND_RA).kind == CFI_UNDEFINED)
		return CFI_END;
	status = find_cfa(&f, rule);
	if (status == CFI_CALLER)
		status = replace_all(&f, rule, &caller);
	*bad = f.bad;
	if (status != CFI_CALLER)
		return status;
	/* such a rule would lead here again */
	if (caller.r[UNWIND_PC] == regs->r[UNWIND_PC] && caller.r[UNWIND_SP] == regs->r[UNWIND_SP])
		return CFI_BAD;
	*regs = caller;
	return CFI_CALLER;
}
