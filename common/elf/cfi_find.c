/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <zlib.h>
#include "base/die.h"
#include "elf/cfi_find.h"

/* MAX_INFLATED: 25 ms.  AHEAD: an FDE and its neighbours. */
enum { MAX_INFLATED = 8 << 20, AHEAD = 512 };

/* Makes s the segment that addr is in, and *pos its place there. */
static bool open_segment(const struct elf_file *f, unsigned long long addr, struct cfi_section *s,
			 unsigned long long *pos)
{
	for (size_t i = 0; i < f->nsegments; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (p->p_type != PT_LOAD || addr < p->p_vaddr || addr - p->p_vaddr >= p->p_filesz)
			continue;
		*s = (struct cfi_section){ .file = &f->bytes, .offset = p->p_offset, .size = p->p_filesz,
					   .addr = p->p_vaddr, .eh = true, .ahead = AHEAD };
		*pos = addr - p->p_vaddr;
		return true;
	}
	return false;
}

/* Sets *known if there is .eh_frame_hdr, which leads to .eh_frame. */
static bool find_by_header(const struct elf_file *f, unsigned long long addr,
			   struct cfi_found *found, bool *known)
{
	unsigned long long frames = 0, fde = 0, pos;
	bool table = false, ok = false;
	struct cfi_section s;

	for (size_t i = 0; i < f->nsegments && !frames; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (p->p_type != PT_GNU_EH_FRAME)
			continue;
		s = (struct cfi_section){ .file = &f->bytes, .offset = p->p_offset, .size = p->p_filesz,
					  .addr = p->p_vaddr };
		table = cfi_table_find(&s, addr, &frames, &fde);
		cfi_section_close(&s);
	}
	*known = frames;
	if (table ? fde && open_segment(f, fde, &s, &pos) : frames && open_segment(f, frames, &s, &pos)) {
		ok = table ? cfi_found_read(&s, pos, addr, found) : cfi_scan(&s, pos, addr, found);
		cfi_section_close(&s);
	}
	return ok;
}

/* Makes s the inflated section, which is all in memory. */
static bool inflate_section(const struct elf_file *f, const Elf64_Shdr *h, struct cfi_section *s)
{
	Elf64_Chdr *head = NULL;
	uLongf size;

	if (h->sh_size > sizeof(*head) && h->sh_size <= MAX_INFLATED)
		head = elf_bytes_part(&f->bytes, h->sh_offset, h->sh_size);
	if (head && head->ch_type == ELFCOMPRESS_ZLIB && head->ch_size &&
	    head->ch_size <= MAX_INFLATED) {
		size = head->ch_size;
		s->window = xcalloc(1, size);
		if (uncompress(s->window, &size, (Bytef *)(head + 1), h->sh_size - sizeof(*head)) == Z_OK)
			s->size = s->len = size;
		else
			cfi_section_close(s);
	}
	free(head);
	return s->window;
}

static bool find_by_section(const struct elf_file *f, const char *name, bool eh,
			    unsigned long long addr, struct cfi_found *found)
{
	const Elf64_Shdr *h = f->bare ? NULL : elf_file_section(f, name);
	struct cfi_section s = { .file = &f->bytes, .eh = eh };
	bool ok;

	if (!h || h->sh_type == SHT_NOBITS)
		return false;
	if (h->sh_flags & SHF_COMPRESSED) {
		if (!inflate_section(f, h, &s))
			return false;
	} else {
		s.offset = h->sh_offset;
		s.size = h->sh_size;
	}
	s.addr = h->sh_addr;
	ok = cfi_scan(&s, 0, addr, found);
	cfi_section_close(&s);
	return ok;
}

bool cfi_find(const struct elf_file *f, unsigned long long addr, struct cfi_found *found)
{
	bool known;

	*found = (struct cfi_found){ 0 };
	if (find_by_header(f, addr, found, &known))
		return true;
	if (!known && find_by_section(f, ".eh_frame", true, addr, found))
		return true;
	return find_by_section(f, ".debug_frame", false, addr, found);
}
