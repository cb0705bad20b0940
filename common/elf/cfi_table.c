/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "elf/cfi_find.h"

/* Below PIECE entries the rest is read at once: a page. */
enum { VERSION = 1, HEAD = 64, PIECE = 512 };

struct table {
	struct cfi_section *hdr;
	unsigned long long pos, n;
	unsigned char encoding;
	size_t size;		/* of a pointer; an entry is two: function, FDE */
};

static struct dwarf_bytes bytes_at(const struct cfi_section *s, unsigned long long pos,
				   const unsigned char *at, unsigned long long size)
{
	return (struct dwarf_bytes){ at, at + size, s->addr + pos + size, false };
}

/* Returns the start of the i-th entry's function, and sets *fde to the address of its FDE. */
static bool read_entry(const struct table *t, unsigned long long i, unsigned long long *start,
		       unsigned long long *fde)
{
	unsigned long long pos = t->pos + i * 2 * t->size;
	const unsigned char *at = cfi_section_at(t->hdr, pos, 2 * t->size);
	struct dwarf_bytes b;

	if (!at)
		return false;
	b = bytes_at(t->hdr, pos, at, 2 * t->size);
	*start = dwarf_pointer(&b, t->encoding, t->hdr->addr);
	*fde = dwarf_pointer(&b, t->encoding, t->hdr->addr);
	return !b.bad;
}

/* Returns the FDE of the last function that starts at or before addr; 0 if there is none. */
static unsigned long long search(const struct table *t, unsigned long long addr)
{
	unsigned long long low = 0, high = t->n, found = 0, start, fde;
	bool near = false;

	while (low < high) {
		unsigned long long mid = low + (high - low) / 2;

		if (!near && high - low <= PIECE) {
			near = true;
			cfi_section_at(t->hdr, t->pos + low * 2 * t->size, (high - low) * 2 * t->size);
		}
		if (!read_entry(t, mid, &start, &fde))
			return 0;
		if (start <= addr) {
			found = fde;
			low = mid + 1;
		} else {
			high = mid;
		}
	}
	return found;
}

bool cfi_table_find(struct cfi_section *hdr, unsigned long long addr, unsigned long long *frames,
		    unsigned long long *fde)
{
	unsigned long long size = hdr->size < HEAD ? hdr->size : HEAD;
	const unsigned char *at = size ? cfi_section_at(hdr, 0, size) : NULL;
	unsigned char frames_encoding, count_encoding;
	struct table t = { .hdr = hdr };
	struct dwarf_bytes b;

	*frames = *fde = 0;
	if (!at)
		return false;
	b = bytes_at(hdr, 0, at, size);
	if (dwarf_number(&b, 1) != VERSION)
		return false;
	frames_encoding = dwarf_number(&b, 1);
	count_encoding = dwarf_number(&b, 1);
	t.encoding = dwarf_number(&b, 1);
	if (frames_encoding == PE_OMIT)
		return false;
	*frames = dwarf_pointer(&b, frames_encoding, hdr->addr);
	if (b.bad)
		*frames = 0;
	if (b.bad || count_encoding == PE_OMIT || t.encoding == PE_OMIT)
		return false;
	t.n = dwarf_pointer(&b, count_encoding, hdr->addr);
	t.size = dwarf_pointer_size(t.encoding);
	t.pos = b.at - at;
	if (b.bad || !t.size || !t.n || t.n > (hdr->size - t.pos) / (2 * t.size))
		return false;
	*fde = search(&t, addr);
	return true;
}
