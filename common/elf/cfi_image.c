/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dwarf.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "elf/cfi_image.h"

/* An advance of one byte can become one of five.  LIMIT: offsets in a function have 32 bits. */
enum { GROWS = 5, HEADS = 1024, RIP = 16, RSP = 7 };

static const unsigned long long LIMIT = 1ull << 32;
static const char NAMES[] = "\0.eh_frame\0.shstrtab";

/* The registers that a function preserves, and the stack pointer, which is the CFA: x86-64 psABI,
 * 3.2.1.  libdw knows that too, where it finds its backend. */
static const unsigned char ABI[] = {
	DW_CFA_same_value, 3, DW_CFA_same_value, 6, DW_CFA_same_value, 12, DW_CFA_same_value, 13,
	DW_CFA_same_value, 14, DW_CFA_same_value, 15, DW_CFA_val_offset, RSP, 0,
};

static unsigned char *put(unsigned char *to, const void *from, size_t size)
{
	memcpy(to, from, size);
	return to + size;
}

static unsigned char *put_sleb(unsigned char *to, long long n)
{
	bool more;

	do {
		more = n < -0x40 || n >= 0x40;
		*to++ = (n & 0x7f) | (more ? 0x80 : 0);
		n >>= 7;
	} while (more);
	return to;
}

static void put_length(unsigned char *record, const unsigned char *end)
{
	unsigned size = end - record - 4;

	memcpy(record, &size, 4);
}

/* Returns the end; NULL if the initial instructions are not valid. */
static unsigned char *put_cie(unsigned char *to, const struct cfi_cie *cie)
{
	static const unsigned char ID_VERSION[] = { 0, 0, 0, 0, 1 };
	unsigned char *record = to;
	size_t rows;

	to = put(to + 4, ID_VERSION, sizeof(ID_VERSION));
	to = cie->signal ? put(to, "zRS", 4) : put(to, "zR", 3);
	*to++ = 1;			/* code alignment */
	to = put_sleb(to, cie->data_align);
	*to++ = RIP;
	*to++ = 1;			/* size of augmentation data: the encoding */
	*to++ = PE_ABSPTR;
	to = put(to, ABI, sizeof(ABI));
	if (cfi_program_copy(cie->program, cie, 0, 1, false, &to, &rows) != 1 || rows != 1)
		return NULL;
	put_length(record, to);
	return to;
}

static unsigned char *put_fde(unsigned char *to, const struct cfi_found *found,
			      const unsigned char *cie, struct cfi_image *image)
{
	unsigned char *record = to, *program;
	unsigned back = to + 4 - cie;
	unsigned long long size;

	to = put(to + 4, &back, 4);
	to = put(to, &found->fde.start, 8);
	to += 8;			/* size */
	*to++ = 0;			/* size of augmentation data */
	program = to;
	image->start = found->fde.start;
	image->end = cfi_program_copy(found->fde.program, &found->cie, found->fde.start,
				      found->fde.end, found->fde.cut, &to, &image->rows);
	image->instructions = to - program;
	size = image->end - image->start;
	put(program - 9, &size, 8);
	put_length(record, to);
	return to;
}

static void put_headers(char *bytes, size_t frames, size_t size)
{
	Elf64_Ehdr *e = (Elf64_Ehdr *)bytes;
	Elf64_Shdr *s = (Elf64_Shdr *)(e + 1);

	memcpy(e->e_ident, ELFMAG, SELFMAG);
	e->e_ident[EI_CLASS] = ELFCLASS64;
	e->e_ident[EI_DATA] = ELFDATA2LSB;
	e->e_ident[EI_VERSION] = e->e_version = EV_CURRENT;
	e->e_type = ET_DYN;
	e->e_machine = EM_X86_64;
	e->e_ehsize = sizeof(*e);
	e->e_shoff = sizeof(*e);
	e->e_shentsize = sizeof(*s);
	e->e_shnum = 3;
	e->e_shstrndx = 2;
	s[1] = (Elf64_Shdr){ .sh_name = 1, .sh_type = SHT_PROGBITS, .sh_offset = frames, .sh_size = size };
	s[2] = (Elf64_Shdr){ .sh_name = 11, .sh_type = SHT_STRTAB, .sh_offset = frames - sizeof(NAMES),
			     .sh_size = sizeof(NAMES) };
	memcpy(bytes + s[2].sh_offset, NAMES, sizeof(NAMES));
}

bool cfi_image_make(const struct cfi_found *found, struct cfi_image *image)
{
	const struct dwarf_bytes *c = &found->cie.program, *f = &found->fde.program;
	size_t frames = sizeof(Elf64_Ehdr) + 3 * sizeof(Elf64_Shdr) + sizeof(NAMES);
	unsigned char *cie, *to;

	*image = (struct cfi_image){ 0 };
	if (found->fde.end - found->fde.start >= LIMIT)
		return false;
	image->bytes = xcalloc(1, HEADS + GROWS * ((c->end - c->at) + (f->end - f->at)));
	cie = (unsigned char *)image->bytes + frames;
	to = put_cie(cie, &found->cie);
	if (to)
		to = put_fde(to, found, cie, image) + 4;	/* a length of 0 ends the section */
	if (to && image->end > image->start) {
		image->size = (char *)to - image->bytes;
		put_headers(image->bytes, frames, image->size - frames);
		return true;
	}
	free(image->bytes);
	return false;
}
