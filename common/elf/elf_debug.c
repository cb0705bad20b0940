/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <elfutils/libdwelf.h>
#include <string.h>
#include "elf/elf_debug.h"

static void read_sections(Elf *elf, struct elf_debug *d)
{
	Elf_Scn *section = NULL;
	size_t names = 0;

	elf_getshdrstrndx(elf, &names);
	while ((section = elf_nextscn(elf, section))) {
		const Elf64_Shdr *h = elf64_getshdr(section);
		const char *name = h ? elf_strptr(elf, names, h->sh_name) : NULL;

		d->symbols |= h && h->sh_type == SHT_SYMTAB;
		d->lines |= name && h->sh_type == SHT_PROGBITS && !strcmp(name, ".debug_info");
	}
}

bool elf_debug_read(int fd, struct elf_debug *d)
{
	const Elf64_Ehdr *h;
	const void *id;
	ssize_t size;
	Elf *elf;
	bool ok;

	*d = (struct elf_debug){ 0 };
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	h = elf ? elf64_getehdr(elf) : NULL;
	ok = h && h->e_machine == EM_X86_64 && h->e_ident[EI_DATA] == ELFDATA2LSB;
	if (ok) {
		read_sections(elf, d);
		size = dwelf_elf_gnu_build_id(elf, &id);
		if (size > 0 && size <= ELF_BUILD_ID_MAX)
			memcpy(d->id, id, d->id_size = size);
	}
	elf_end(elf);
	return ok;
}

bool elf_debug_same(const struct elf_debug *a, const struct elf_debug *b)
{
	return a->id_size && a->id_size == b->id_size && !memcmp(a->id, b->id, a->id_size);
}
