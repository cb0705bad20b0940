/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads DWARF's encodings of numbers from memory. */
#ifndef DWARF_BYTES_H
#define DWARF_BYTES_H
#include <stdbool.h>
#include <stddef.h>

/* Pointer encodings in .eh_frame (Linux Standard Base, "DWARF Extensions"). */
enum {
	PE_ABSPTR = 0, PE_ULEB = 1, PE_UDATA2 = 2, PE_UDATA4 = 3, PE_UDATA8 = 4,
	PE_SLEB = 9, PE_SDATA2 = 10, PE_SDATA4 = 11, PE_SDATA8 = 12, PE_FORMAT = 0x0f,
	PE_PCREL = 0x10, PE_DATAREL = 0x30, PE_ALIGNED = 0x50, PE_BASE = 0x70,
	PE_INDIRECT = 0x80, PE_OMIT = 0xff,
};

struct dwarf_bytes {
	const unsigned char *at, *end;
	unsigned long long addr;	/* of the byte at end */
	bool bad;	/* something went beyond the end or is not valid; what is read then is 0 */
};

/* Reads a number of 1 to 8 bytes, little-endian. */
unsigned long long dwarf_number(struct dwarf_bytes *b, size_t size);
unsigned long long dwarf_uleb(struct dwarf_bytes *b);
long long dwarf_sleb(struct dwarf_bytes *b);
void dwarf_skip(struct dwarf_bytes *b, unsigned long long size);

/* Returns the string up to the next 0 byte; "" if there is none. */
const char *dwarf_string(struct dwarf_bytes *b);

/* Reads a pointer; datarel is what PE_DATAREL is relative to. */
unsigned long long dwarf_pointer(struct dwarf_bytes *b, unsigned char encoding,
				 unsigned long long datarel);

/* Returns the bytes that the format takes, 2, 4 or 8; 0 if they vary. */
size_t dwarf_pointer_size(unsigned char encoding);

#endif
