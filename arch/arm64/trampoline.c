/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <signal.h>
#include <stddef.h>
#include <ucontext.h>
#include "elf/cfi_block.h"

/* arch/arm64/kernel/signal.c, struct rt_sigframe: what the stack pointer points to when a handler returns. */
struct signal_frame {
	siginfo_t info;
	ucontext_t context;
};

#define AT(field) ((int)offsetof(struct signal_frame, context.uc_mcontext.field))
#define SAVED(number, place) { .kind = CFI_SAVED, .reg = (number), .value = (place) }
#define SAVED_X(n) SAVED(n, AT(regs) + 8 * (n))

enum { REGISTERS = 33, INSNS = 8 };

/* All registers are where the kernel has saved them. */
static const struct {
	struct cfi head;
	struct cfi_row row;
	struct cfi_cell cells[1 + REGISTERS];
} rules = {
	.head = { .end = INSNS, .nrows = 1, .ncells = 1 + REGISTERS, .signal = true },
	.cells = {
		{ .kind = CFI_CFA, .reg = UNWIND_SP, .n = REGISTERS },
		SAVED_X(0), SAVED_X(1), SAVED_X(2), SAVED_X(3), SAVED_X(4), SAVED_X(5), SAVED_X(6), SAVED_X(7),
		SAVED_X(8), SAVED_X(9), SAVED_X(10), SAVED_X(11), SAVED_X(12), SAVED_X(13), SAVED_X(14), SAVED_X(15),
		SAVED_X(16), SAVED_X(17), SAVED_X(18), SAVED_X(19), SAVED_X(20), SAVED_X(21), SAVED_X(22), SAVED_X(23),
		SAVED_X(24), SAVED_X(25), SAVED_X(26), SAVED_X(27), SAVED_X(28), SAVED_X(29), SAVED_X(30),
		SAVED(UNWIND_SP, AT(sp)), SAVED(UNWIND_PC, AT(pc)),
	},
};

const struct cfi *cfi_trampoline(void)
{
	return &rules.head;
}
