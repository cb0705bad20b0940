/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/die.h"
#include "elf/cfi_build.h"
#include "elf/cfi_image.h"

/* For each row libdw executes the instructions from the function's start.  WORK: bytes executed for
 * all rows, 1 ms. */
enum { WORK = 1 << 17, FEW = 8 };

/* What is read of the function, in libdw's hands. */
struct reader {
	struct cfi_image image;
	Elf *elf;
	Dwarf_CFI *dwarf;
	size_t max;		/* rows */
	struct cfi_builder *b;
};

/* Returns the segment that the offset is in; NULL if it is not in executable code. */
static const Elf64_Phdr *segment_of(const struct elf_file *f, unsigned long long offset)
{
	for (size_t i = 0; i < f->nloads; i++) {
		const Elf64_Phdr *p = &f->loads[i];

		if (offset >= p->p_offset && offset - p->p_offset < p->p_filesz)
			return p;
	}
	return NULL;
}

static bool within(const struct cfi_fde *fde, const Elf64_Phdr *p)
{
	return fde->start >= p->p_vaddr && fde->end - p->p_vaddr <= p->p_filesz;
}

/* Returns the row at an address, which free() frees; NULL if it is not known. */
static Dwarf_Frame *row_at(const struct reader *r, unsigned long long addr, Dwarf_Addr *start,
			   Dwarf_Addr *end)
{
	Dwarf_Frame *frame;

	if (addr < r->image.start || addr >= r->image.end ||
	    dwarf_cfi_addrframe(r->dwarf, addr, &frame))
		return NULL;
	if (dwarf_frame_info(frame, start, end, NULL) == CFI_RIP && *start <= addr && *end > addr)
		return frame;
	free(frame);
	return NULL;
}

/* Returns the start of the row, at most n rows before that of addr, with which to begin. */
static unsigned long long first_row(const struct reader *r, unsigned long long addr, size_t n)
{
	unsigned long long first = addr;
	Dwarf_Addr start, end;
	Dwarf_Frame *frame;

	for (size_t i = 0; i <= n; i++) {
		frame = row_at(r, i ? first - 1 : addr, &start, &end);
		if (!frame)
			break;
		first = start;
		free(frame);
	}
	return first;
}

/* Reads the rows that there is time for, among them that of addr.  Returns the block. */
static struct cfi *read_rows(struct reader *r, unsigned long long addr)
{
	unsigned long long first = r->image.start, at;
	Dwarf_Addr start, end;
	struct cfi *c;
	bool ok = true;

	if (r->image.rows > r->max)
		first = first_row(r, addr, r->max / 2);
	at = first;
	for (size_t i = 0; i < r->max && ok; i++) {
		Dwarf_Frame *frame = row_at(r, at, &start, &end);

		if (!frame)
			break;
		ok = cfi_build_row(r->b, at - first, frame);
		at = ok ? end : at;
		free(frame);
	}
	if (addr < first || addr >= at)
		return NULL;
	c = cfi_build(r->b);
	c->start = first;
	c->end = at;
	return c;
}

static struct cfi *read_image(struct reader *r, unsigned long long addr)
{
	struct cfi *c = NULL;
	size_t max = WORK / (r->image.instructions + 1);

	r->max = max < FEW ? FEW : max < CFI_MAX_ROWS ? max : CFI_MAX_ROWS;
	elf_version(EV_CURRENT);
	r->elf = elf_memory(r->image.bytes, r->image.size);
	r->dwarf = r->elf ? dwarf_getcfi_elf(r->elf) : NULL;
	if (r->dwarf) {
		r->b = xcalloc(1, sizeof(*r->b));
		c = read_rows(r, addr);
		free(r->b);
		dwarf_cfi_end(r->dwarf);
	}
	elf_end(r->elf);
	free(r->image.bytes);
	return c;
}

static struct cfi *load_function(const struct elf_file *file, const Elf64_Phdr *p,
				 unsigned long long offset)
{
	unsigned long long shift = p->p_vaddr - p->p_offset;
	struct cfi_found found;
	struct reader r = { 0 };
	struct cfi *c = NULL;

	if (!cfi_find(file, offset + shift, &found))
		return NULL;
	if (within(&found.fde, p) && cfi_image_make(&found, &r.image))
		c = read_image(&r, offset + shift);
	if (c) {
		c->signal = found.cie.signal;
		c->shift = shift;
		c->start -= shift;
		c->end -= shift;
	}
	cfi_found_free(&found);
	return c;
}

struct cfi *cfi_load(int fd, unsigned long long offset)
{
	const Elf64_Phdr *p;
	struct elf_file file;
	struct cfi *c;

	if (elf_file_open(&file, fd))
		return NULL;
	p = segment_of(&file, offset);
	c = p ? load_function(&file, p, offset) : NULL;
	elf_file_close(&file);
	return c;
}
