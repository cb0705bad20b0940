/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Tables by which BPF programs unwind stacks without frame pointers, and what they send where that
 * does not suffice.
 *
 * A rule says for one return address how to find the caller's frame: the canonical frame address
 * (CFA, the stack pointer after the return to the caller) is the stack or frame pointer plus an offset, the
 * frame pointer is unchanged or saved below it, and the return address is where the machine has it then
 * (machine/frame.h).  User space adds rules as it meets return addresses.  Where one is missing or is not that simple, a struct stack_copy
 * is sent, from which user space unwinds. */
#ifndef ABI_STACK_UNWIND_H
#define ABI_STACK_UNWIND_H
#include "abi/record.h"
#include "abi/stack_frames.h"
#include "machine/frame.h"

enum unwind_kind {
	UNWIND_NONE,		/* no rule: the slot is empty */
	UNWIND_BY_SP,		/* the CFA is at the stack pointer plus cfa */
	UNWIND_BY_FP,		/* … at the frame pointer plus cfa */
	UNWIND_END,		/* the outermost frame */
	UNWIND_COPY,		/* not that simple: only by a copy */
	UNWIND_NO_RULES,	/* the code has no unwind information … */
	UNWIND_BAD_RULES,	/* … or some that leads nowhere */
	UNWIND_POINTER,		/* no unwind information, but a frame pointer */
	UNWIND_GO,		/* code of Go: the callers are the goroutine's frames */
};

/* A slot of the table.  rule: the kind in bits 0 to 3; in 8-byte words cfa in bits 4 to 17, and the
 * distance from the saved frame pointer to the CFA in bits 18 to 31, 0 if it is unchanged; the owner,
 * a number for one set of mappings of one process, in bits 32 to 63. */
struct unwind_slot {
	unsigned long long pc, rule;
};

#define UNWIND_WORD_BITS 14
#define UNWIND_WORDS (1u << UNWIND_WORD_BITS)

static inline unsigned long long unwind_rule(unsigned int owner, enum unwind_kind kind, unsigned int cfa,
					     unsigned int fp)
{
	return (unsigned long long)owner << 32 | fp << (4 + UNWIND_WORD_BITS) | cfa << 4 | kind;
}

static inline unsigned int unwind_cfa(unsigned long long rule)
{
	return rule >> 4 & (UNWIND_WORDS - 1);
}

static inline unsigned int unwind_fp(unsigned long long rule)
{
	return rule >> (4 + UNWIND_WORD_BITS) & (UNWIND_WORDS - 1);
}

/* The table: sets of slots, in which an address has one place. */
enum { UNWIND_WAYS = 4, UNWIND_SET_BITS = 14, UNWIND_SETS = 1 << UNWIND_SET_BITS };

struct unwind_set {
	struct unwind_slot slots[UNWIND_WAYS];
};

static inline unsigned int unwind_place(unsigned int owner, unsigned long long pc)
{
	return (pc ^ (unsigned long long)owner << 40) * 0x9e3779b97f4a7c15ull >> (64 - UNWIND_SET_BITS);
}

/* By process id: what its return addresses mean now. */
struct unwind_process {
	unsigned int owner;		/* 0: it has no rules */
	enum go_loss go;		/* GO_NOT_YET: it is no program of Go, as far as is known */
	long long place;		/* struct elf_go's */
};

/* Offsets in Go's structs g (stack.hi, m, sched.sp, sched.bp) and m (curg): src/runtime/runtime2.go.  Its runtime.asmcgocall calls C on the
 * stack of m.g0, the first word of m; then m.curg.sched has the goroutine's registers.  A newer struct gobuf, of which m has one before curg,
 * has lost a word before bp: then the last two are GO_SHIFT lower. */
enum { GO_STACK_END = 8, GO_M = 48, GO_SCHED_SP = 56, GO_SCHED_BP = 104, GO_CURG = 192, GO_SHIFT = 8 };

enum { STACK_RETURNS = 8 };

/* How many pages of a stack are looked at, and how many are copied, at most. */
enum { UNWIND_PAGE = 4096, UNWIND_PAGES = 64, UNWIND_PAGES_COPIED = 16 };

/* The registers and the stack of a thread, mostly in the caller of the traced function.  Those of UNWIND_KNOWN are
 * known. */
struct stack_copy {
	struct record head;		/* kind: RECORD_STACK */
	unsigned long long id;		/* of the note NOTE_COPIED that refers to it */
	unsigned long long regs[UNWIND_REGISTERS];
	/* Where return probes have replaced a return address, and the program's own.  at: the stack pointer at the
	 * function's entry. */
	struct { unsigned long long at, pc; } returns[STACK_RETURNS];
	/* The pages that follow, one behind the other: bit i for page i from that of regs[UNWIND_SP] on,
	 * of which only what is from there on follows.  Nothing is known of the words in the others. */
	unsigned long long present;
	unsigned int looked;		/* pages that present covers */
	unsigned int cut;		/* not 0: the stack goes on behind them */
	unsigned long long from;	/* frames up to this stack pointer are left out: the traced
					 * function's and those inside it; 0: none */
};

#endif
