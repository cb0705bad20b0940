/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Collects rows from libdw and makes the block of them.  Private to common/elf/cfi*.c. */
#ifndef CFI_BUILD_H
#define CFI_BUILD_H
#include <elfutils/libdw.h>
#include "elf/cfi_block.h"

/* What a function keeps.  An expression of a real one has below 20 operations. */
enum {
	CFI_MAX_ROWS = 256, CFI_MAX_OPS = 1024, CFI_MAX_EXPR = 255,
	CFI_MAX_CELLS = CFI_MAX_ROWS * (1 + CFI_REGISTERS),
};

struct cfi_builder {
	size_t nops, nrows, ncells;
	struct cfi_op ops[CFI_MAX_OPS];
	struct cfi_row rows[CFI_MAX_ROWS];
	struct cfi_cell cells[CFI_MAX_CELLS];
};

/* Appends the row that starts at this offset in the function; merges it with the last one if both
 * have the same rule.  False if there are too many. */
bool cfi_build_row(struct cfi_builder *b, unsigned from, Dwarf_Frame *frame);

/* Returns the block, of which nops, nrows and ncells are set. */
struct cfi *cfi_build(const struct cfi_builder *b);

#endif
