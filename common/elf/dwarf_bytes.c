/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "elf/dwarf_bytes.h"

enum { LEB_BITS = 7, LEB_MORE = 0x80, LEB_SIGN = 0x40, BITS = 64 };

void dwarf_skip(struct dwarf_bytes *b, unsigned long long size)
{
	if (size > (size_t)(b->end - b->at)) {
		b->bad = true;
		b->at = b->end;
	} else {
		b->at += size;
	}
}

unsigned long long dwarf_number(struct dwarf_bytes *b, size_t size)
{
	unsigned long long n = 0;

	if (size > (size_t)(b->end - b->at)) {
		dwarf_skip(b, size);
		return 0;
	}
	memcpy(&n, b->at, size);
	b->at += size;
	return n;
}

/* Sets *bits to the number of bits read. */
static unsigned long long read_leb(struct dwarf_bytes *b, unsigned *bits, unsigned char *last)
{
	unsigned long long n = 0;

	*bits = 0;
	do {
		*last = dwarf_number(b, 1);
		if (*bits >= BITS)
			b->bad = true;
		if (b->bad)
			return 0;
		n |= (unsigned long long)(*last & ~LEB_MORE) << *bits;
		*bits += LEB_BITS;
	} while (*last & LEB_MORE);
	return n;
}

unsigned long long dwarf_uleb(struct dwarf_bytes *b)
{
	unsigned char last;
	unsigned bits;

	return read_leb(b, &bits, &last);
}

long long dwarf_sleb(struct dwarf_bytes *b)
{
	unsigned char last;
	unsigned bits;
	unsigned long long n = read_leb(b, &bits, &last);

	if (!b->bad && bits < BITS && last & LEB_SIGN)
		n |= ~0ull << bits;
	return n;
}

const char *dwarf_string(struct dwarf_bytes *b)
{
	const char *s = (const char *)b->at;
	size_t left = b->end - b->at, len = strnlen(s, left);

	dwarf_skip(b, len + 1ull);
	return len < left ? s : "";
}

size_t dwarf_pointer_size(unsigned char encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_UDATA2:
	case PE_SDATA2:
		return 2;
	case PE_UDATA4:
	case PE_SDATA4:
		return 4;
	case PE_ABSPTR:
	case PE_UDATA8:
	case PE_SDATA8:
		return 8;
	default:
		return 0;
	}
}

static unsigned long long read_format(struct dwarf_bytes *b, unsigned char encoding)
{
	switch (encoding & PE_FORMAT) {
	case PE_ULEB:
		return dwarf_uleb(b);
	case PE_SLEB:
		return dwarf_sleb(b);
	case PE_SDATA2:
		return (short)dwarf_number(b, 2);
	case PE_SDATA4:
		return (int)dwarf_number(b, 4);
	}
	if (!dwarf_pointer_size(encoding))
		b->bad = true;
	return dwarf_number(b, dwarf_pointer_size(encoding));
}

unsigned long long dwarf_pointer(struct dwarf_bytes *b, unsigned char encoding,
				 unsigned long long datarel)
{
	unsigned long long here = b->addr - (b->end - b->at), n;

	if (encoding & PE_INDIRECT)
		b->bad = true;
	if ((encoding & PE_BASE) == PE_ALIGNED) {
		dwarf_skip(b, -here & 7);
		return dwarf_number(b, 8);
	}
	n = read_format(b, encoding);
	switch (encoding & PE_BASE) {
	case 0:
		return n;
	case PE_PCREL:
		return n + here;
	case PE_DATAREL:
		return n + datarel;
	}
	b->bad = true;
	return 0;
}
