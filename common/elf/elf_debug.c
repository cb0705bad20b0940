/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <gelf.h>
#include <string.h>
#include "elf/elf_debug.h"
#include "machine/elf.h"

/* dwelf_elf_gnu_build_id() would take half a megabyte of libdwfl into each static tool. */
static void read_notes(Elf_Data *notes, struct elf_debug *d)
{
	size_t at = 0, name, id;
	GElf_Nhdr n;

	while (notes && !d->id_size && (at = gelf_getnote(notes, at, &n, &name, &id))) {
		const char *bytes = notes->d_buf;

		if (n.n_type == NT_GNU_BUILD_ID && n.n_namesz == 4 && !memcmp(bytes + name, "GNU", 4) &&
		    n.n_descsz <= sizeof(d->id))
			memcpy(d->id, bytes + id, d->id_size = n.n_descsz);
	}
}

static void read_sections(Elf *elf, struct elf_debug *d)
{
	Elf_Scn *section = NULL;
	size_t names = 0;
	Elf64_Shdr h;

	elf_getshdrstrndx(elf, &names);
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &h) ? elf_strptr(elf, names, h.sh_name) : NULL;

		if (!name)
			continue;
		d->symbols |= h.sh_type == SHT_SYMTAB;
		d->lines |= h.sh_type == SHT_PROGBITS && !strcmp(name, ".debug_info");
		if (h.sh_type == SHT_NOTE)
			read_notes(elf_getdata(section, NULL), d);
	}
}

/* A file without section headers has the notes in a segment. */
static void read_segments(Elf *elf, struct elf_debug *d)
{
	Elf64_Phdr p;

	for (int i = 0; !d->id_size && gelf_getphdr(elf, i, &p); i++)
		if (p.p_type == PT_NOTE)
			read_notes(elf_getdata_rawchunk(elf, p.p_offset, p.p_filesz, ELF_T_NHDR), d);
}

bool elf_debug_read(int fd, struct elf_debug *d)
{
	const Elf64_Ehdr *h;
	Elf *elf;
	bool ok;

	*d = (struct elf_debug){ 0 };
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	h = elf ? elf64_getehdr(elf) : NULL;
	ok = h && h->e_machine == MACHINE_ELF && h->e_ident[EI_DATA] == ELFDATA2LSB;
	if (ok) {
		read_sections(elf, d);
		read_segments(elf, d);
	}
	elf_end(elf);
	return ok;
}

bool elf_debug_same(const struct elf_debug *a, const struct elf_debug *b)
{
	return a->id_size && a->id_size == b->id_size && !memcmp(a->id, b->id, a->id_size);
}
