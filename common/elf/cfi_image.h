/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A small ELF file in memory with one FDE and its CIE, for libdw: made from scratch, so that nothing
 * of a hostile file reaches libelf, and nothing of its CFI reaches libdw but instructions whose
 * operands are complete and of reasonable size.  Private to common/elf/cfi*.c. */
#ifndef CFI_IMAGE_H
#define CFI_IMAGE_H
#include "elf/cfi_find.h"

/* What libdw can be asked about. */
struct cfi_image {
	char *bytes;			/* free it, after elf_end() */
	size_t size;
	unsigned long long start, end;	/* addresses.  The FDE's end, or where it cannot be understood */
	size_t instructions;		/* bytes that libdw executes for the last row */
	size_t rows;			/* at most */
};

/* Return false, and nothing to free, if nothing of the FDE can be understood. */
bool cfi_image_make(const struct cfi_found *found, struct cfi_image *image);

/* Checks one program and appends it to *to: advances by bytes, no operations on registers that an
 * unwinder does not need.  pc is the address of the first row; cut: the program's end is missing.
 * Stops at end, or at what is wrong, and returns the address up to which the rows are complete.  rows
 * counts them. */
unsigned long long cfi_program_copy(struct dwarf_bytes program, const struct cfi_cie *cie,
				    unsigned long long pc, unsigned long long end, bool cut,
				    unsigned char **to, size_t *rows);

/* Return false if the expression has operations that CFI must not use (DWARF 5, 6.4.2), or
 * truncated ones. */
bool cfi_expr_check(struct dwarf_bytes expr);

#endif
