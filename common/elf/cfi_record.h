/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The records of .eh_frame and .debug_frame: CIEs and FDEs (DWARF 5, 6.4.1; Linux Standard Base,
 * "Exception Frames").  Private to common/elf/cfi*.c. */
#ifndef CFI_RECORD_H
#define CFI_RECORD_H
#include <stdbool.h>
#include "elf/dwarf_bytes.h"
#include "elf/elf_bytes.h"

/* What is longer is cut off.  Of the 490,000 functions of libLLVM, libclang, cuBLAS, cuSOLVER, rustc and
 * gcc's cc1plus, the longest record has 20,064 bytes; of 1000, 999 have below 1600. */
enum { CFI_MAX_RECORD = 32 << 10 };

/* Part of a file that has records; a window of it is in memory. */
struct cfi_section {
	const struct elf_bytes *file;
	unsigned long long offset, size;	/* in the file */
	unsigned long long addr;		/* of its start */
	bool eh;		/* .eh_frame, not .debug_frame */
	unsigned char *window;	/* release with cfi_section_close() */
	unsigned long long from, len;
	unsigned long long ahead;	/* how much to read at a time */
};

void cfi_section_close(struct cfi_section *s);

/* Returns size bytes from pos, which live until the next call; NULL if the section lacks any. */
const unsigned char *cfi_section_at(struct cfi_section *s, unsigned long long pos,
				    unsigned long long size);

/* Where a record is. */
struct cfi_span {
	unsigned long long pos, next;	/* its length, and the record after it */
	unsigned long long id;		/* the field that tells a CIE from an FDE */
	unsigned long long body;	/* what follows that */
	bool cie, wide;			/* wide: of 64-bit DWARF */
};

/* Reads the head of the record at pos; false at the end of the section. */
bool cfi_span_read(struct cfi_section *s, unsigned long long pos, struct cfi_span *span);

/* Returns the position of the CIE that the FDE belongs to. */
unsigned long long cfi_span_cie(const struct cfi_section *s, const struct cfi_span *fde);

struct cfi_cie {
	unsigned long long pos;
	unsigned long long code_align;
	long long data_align;
	unsigned char encoding;		/* of the pointers in its FDEs */
	bool sized, signal;		/* its FDEs have augmentation data; they are of signal frames */
	unsigned char *bytes;		/* free it */
	struct dwarf_bytes program;	/* within bytes */
};

/* Reads the CIE at pos; false, and nothing to free, if there is none that can be used. */
bool cfi_cie_read(struct cfi_section *s, unsigned long long pos, struct cfi_cie *cie);

struct cfi_fde {
	unsigned long long start, end;	/* addresses */
	unsigned char *bytes;		/* free it */
	struct dwarf_bytes program;
	bool cut;			/* the program is longer than what was read */
};

/* Reads the FDE whose head is fde; with the program only if program is true, so that there is
 * nothing to free otherwise. */
bool cfi_fde_read(struct cfi_section *s, const struct cfi_span *span, const struct cfi_cie *cie,
		  bool program, struct cfi_fde *fde);

#endif
