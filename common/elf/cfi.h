/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How the functions of an ELF file are unwound: the call frame information (CFI) in .eh_frame
 * or .debug_frame (DWARF 5, 6.4).  Code is named by its offset in the file, as in /proc/PID/maps. */
#ifndef ELF_CFI_H
#define ELF_CFI_H
#include <stdbool.h>
#include <stddef.h>
#include "machine/frame.h"

/* The registers of a frame. */
struct cfi_regs {
	unsigned long long r[UNWIND_REGISTERS];	/* by enum unwind_register */
	unsigned long long known;	/* bit i: the value of r[i] is known */
};

/* The rules of a function, or of a part around the offset asked for if it is long: one block of memory,
 * which free() frees, so that it can be copied to another process. */
struct cfi;

/* Reads the rules of the function at this offset; NULL if there are none.  For a helper: the file is
 * another user's. */
struct cfi *cfi_load(int fd, unsigned long long offset);

/* Returns the rules of UNWIND_TRAMPOLINE, from offset 0 on; NULL if that is 0.  In arch/ARCH/trampoline.c. */
const struct cfi *cfi_trampoline(void);

struct elf_file;

/* Sets *start and *end (the first address that is not covered) to the addresses of the function, or the part
 * of one, that has the code at addr, by the table .eh_frame_hdr: it has all functions, also where symbols are
 * stripped.  Return false if the function is not found; then they are those of the executable segment, if
 * there is one.  For a helper, too. */
bool cfi_extent(const struct elf_file *f, unsigned long long addr, unsigned long long *start,
		unsigned long long *end);

/* Returns the memory that the rules take, in bytes. */
size_t cfi_size(const struct cfi *c);

/* Return true if the rules are those of the code at this offset. */
bool cfi_covers(const struct cfi *c, unsigned long long offset);

/* Sets *start and *end to the offsets of the code: end is the first that is not covered. */
void cfi_range(const struct cfi *c, unsigned long long *start, unsigned long long *end);

/* Return true if the frame is that of a signal handler's return: the caller's pc is where it was
 * interrupted, not a return address, and is looked up as it is, not at pc - 1. */
bool cfi_signal_frame(const struct cfi *c);

/* Reads the 8 bytes at an address of the process, of any alignment; false if they cannot be read. */
struct cfi_memory {
	bool (*read)(void *ctx, unsigned long long at, unsigned long long *word);
	void *ctx;
};

enum cfi_step {
	CFI_CALLER,	/* the registers are the caller's now */
	CFI_END,	/* this is the outermost frame: its return address is undefined */
	CFI_UNREADABLE,	/* memory that is needed cannot be read */
	CFI_BAD,	/* there is no rule, or it cannot be followed */
};

/* Replaces the registers of a frame by its caller's; leaves them unless it returns CFI_CALLER.  offset
 * is that of pc, of pc - 1 if pc is a return address.  A register that cannot be recovered is not
 * known any more; pc and the stack pointer are.  With CFI_UNREADABLE, *bad is the address. */
enum cfi_step cfi_step(const struct cfi *c, unsigned long long offset, struct cfi_regs *regs,
		       const struct cfi_memory *memory, unsigned long long *bad);

/* A rule of the kind that nearly all code has: the CFA is the stack or frame pointer + cfa; the caller's stack pointer is the
 * CFA; the frame pointer is unchanged or saved; the return address is at CFA - 8 * UNWIND_RA_WORDS(fp_slot). */
struct cfi_simple {
	bool end;	/* the outermost frame: nothing else is set */
	bool fp;	/* the CFA is relative to the frame pointer, not the stack pointer */
	int cfa;
	unsigned fp_slot;	/* the frame pointer is saved at CFA - 8 * fp_slot; 0: unchanged */
};

/* Return false if the rule at this offset is of another kind, or not known. */
bool cfi_simple(const struct cfi *c, unsigned long long offset, struct cfi_simple *simple);

#endif
