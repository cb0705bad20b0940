/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Finds the FDE of an address as unwinders do: through the table in .eh_frame_hdr; where there is
 * none, by reading .eh_frame; else in .debug_frame.  Private to common/elf/cfi*.c. */
#ifndef CFI_FIND_H
#define CFI_FIND_H
#include <stdbool.h>
#include "elf/cfi_record.h"
#include "elf/elf_file.h"

/* What was found; cfi_found_free() releases it. */
struct cfi_found {
	struct cfi_cie cie;
	struct cfi_fde fde;
};

/* Return false, and nothing to release, if no FDE covers the address. */
bool cfi_find(const struct elf_file *f, unsigned long long addr, struct cfi_found *found);
void cfi_found_free(struct cfi_found *found);

/* Looks the address up in the table of .eh_frame_hdr, which hdr is.  *frames is set to the address of
 * .eh_frame, 0 if the section cannot be read.  Returns true if there is a table; then *fde is the
 * FDE's address, or 0. */
bool cfi_table_find(struct cfi_section *hdr, unsigned long long addr, unsigned long long *frames,
		    unsigned long long *fde);

/* Reads the FDE at pos, and its CIE; false if it does not cover the address. */
bool cfi_found_read(struct cfi_section *s, unsigned long long pos, unsigned long long addr,
		    struct cfi_found *found);

/* Reads the section from pos until an FDE covers the address. */
bool cfi_scan(struct cfi_section *s, unsigned long long pos, unsigned long long addr,
	      struct cfi_found *found);

#endif
