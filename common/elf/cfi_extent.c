/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dwarf.h>
#include <stdlib.h>
#include "elf/cfi.h"
#include "elf/elf_file.h"

/* .eh_frame_hdr as all linkers write it: a sorted table of the functions' starts, relative to the section's. */
struct table_head {
	unsigned char version, frames_encoding, count_encoding, encoding;
	int frames;
	unsigned n;
};

struct table_entry {
	int start, fde;
};

/* Head of an FDE if its addresses have 32 bits, as in all but the largest model of code. */
struct fde {
	unsigned length, cie;
	int start;	/* from its own place */
	unsigned size;
};

enum { VERSION = 1 };

/* Sets *start to the i-th function, and *fde to the distance of its FDE from the table. */
static bool read_entry(const struct elf_file *f, const Elf64_Phdr *table, size_t i, unsigned long long *start,
		       int *fde)
{
	unsigned long long at = table->p_offset + sizeof(struct table_head);
	struct table_entry *entry = elf_bytes_part(&f->bytes, at + i * sizeof(*entry), sizeof(*entry));

	if (entry) {
		*start = table->p_vaddr + entry->start;
		*fde = entry->fde;
	}
	free(entry);
	return entry;
}

/* Returns the size of the function at start; 0 if its FDE is laid out in another way. */
static unsigned read_size(const struct elf_file *f, const Elf64_Phdr *table, int at, unsigned long long start)
{
	struct fde *fde = elf_bytes_part(&f->bytes, table->p_offset + at, sizeof(*fde));
	bool ok = fde && table->p_vaddr + at + offsetof(struct fde, start) + fde->start == start;
	unsigned size = ok ? fde->size : 0;

	free(fde);
	return size;
}

/* Returns the number of entries; 0 if there is no such table. */
static unsigned cfi_extent_read_table(const struct elf_file *f, const Elf64_Phdr *table)
{
	struct table_head *head = elf_bytes_part(&f->bytes, table->p_offset, sizeof(*head));
	unsigned n = 0;

	if (head && head->version == VERSION && head->frames_encoding == (DW_EH_PE_pcrel | DW_EH_PE_sdata4) &&
	    head->count_encoding == DW_EH_PE_udata4 && head->encoding == (DW_EH_PE_datarel | DW_EH_PE_sdata4) &&
	    table->p_filesz / sizeof(struct table_entry) > head->n)
		n = head->n;
	free(head);
	return n;
}

/* Narrows [*start, *end), in which addr is, to the function; false if there is none. */
static bool search(const struct elf_file *f, const Elf64_Phdr *table, unsigned long long addr,
		   unsigned long long *start, unsigned long long *end)
{
	unsigned low = 0, high = cfi_extent_read_table(f, table), mid, size;
	unsigned long long first = *start, last = *end, at;
	int fde, found = 0;

	while (low < high) {
		mid = low + (high - low) / 2;
		if (!read_entry(f, table, mid, &at, &fde))
			return false;
		if (at <= addr) {
			low = mid + 1;
			found = fde;
			first = at > first ? at : first;
		} else {
			high = mid;
			last = at < last ? at : last;
		}
	}
	size = low ? read_size(f, table, found, first) : 0;
	if (size && last - first > size)
		last = first + size;
	if (!low || addr >= last)
		return false;
	*start = first;
	*end = last;
	return true;
}

bool cfi_extent(const struct elf_file *f, unsigned long long addr, unsigned long long *start,
		unsigned long long *end)
{
	const Elf64_Phdr *table = elf_file_segment(f, PT_GNU_EH_FRAME), *p = f->loads;

	while (p < f->loads + f->nloads && (addr < p->p_vaddr || addr - p->p_vaddr >= p->p_filesz))
		p++;
	if (p == f->loads + f->nloads)
		return false;
	*start = p->p_vaddr;
	*end = p->p_vaddr + p->p_filesz;
	return table && search(f, table, addr, start, end);
}
