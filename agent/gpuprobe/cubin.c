/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <elf.h>
#include <stdlib.h>
#include <string.h>
#include "agent/gpuprobe/cubin.h"

enum { STO_CUDA_ENTRY = 0x10 };		/* of st_other: a kernel */

#define SITES "__cuprobe_sites_"

static size_t larger(size_t a, size_t b)
{
	return a > b ? a : b;
}

/* The end of num entries of a size, or SIZE_MAX. */
static size_t table_end(uint64_t offset, uint64_t num, uint64_t size)
{
	return offset > SIZE_MAX / 2 ? SIZE_MAX : offset + num * size;
}

size_t cubin_size(const void *p, size_t size)
{
	const char *file = p;
	Elf64_Ehdr head;
	size_t end;

	if (size < sizeof(head))
		return 0;
	memcpy(&head, p, sizeof(head));
	if (memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64)
		return 0;
	end = larger(table_end(head.e_shoff, head.e_shnum, sizeof(Elf64_Shdr)),
		     table_end(head.e_phoff, head.e_phnum, sizeof(Elf64_Phdr)));
	end = larger(end, sizeof(head));
	if (end > size || end > SIZE_MAX / 2)
		return 0;
	for (unsigned i = 0; i < head.e_shnum; i++) {
		Elf64_Shdr section;

		memcpy(&section, file + head.e_shoff + i * sizeof(section), sizeof(section));
		if (section.sh_type != SHT_NOBITS)
			end = larger(end, section.sh_size > SIZE_MAX / 2 ? SIZE_MAX :
				     table_end(section.sh_offset, section.sh_size, 1));
		if (end > size || end > SIZE_MAX / 2)
			return 0;
	}
	return end;
}

static void symbol(const struct cubin_reader *reader, const Elf64_Sym *s, const char *name)
{
	if (ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_other & STO_CUDA_ENTRY)
		reader->kernel(reader->ctx, name);
	if (!strncmp(name, SITES, strlen(SITES)))
		reader->instrumented(reader->ctx, (uint32_t)strtoul(name + strlen(SITES), NULL, 16));
}

void cubin_read(const void *p, size_t size, const struct cubin_reader *reader)
{
	const char *file = p;
	Elf64_Shdr table, strings;
	Elf64_Ehdr head;

	size = cubin_size(p, size);	/* all sections are within that */
	if (!size)
		return;
	memcpy(&head, p, sizeof(head));
	for (unsigned i = 0; i < head.e_shnum; i++) {
		memcpy(&table, file + head.e_shoff + i * sizeof(table), sizeof(table));
		if (table.sh_type != SHT_SYMTAB || table.sh_link >= head.e_shnum)
			continue;
		memcpy(&strings, file + head.e_shoff + table.sh_link * sizeof(table), sizeof(table));
		if (strings.sh_type != SHT_STRTAB || !strings.sh_size || file[strings.sh_offset + strings.sh_size - 1])
			continue;
		for (size_t at = 0; table.sh_size - at >= sizeof(Elf64_Sym); at += sizeof(Elf64_Sym)) {
			Elf64_Sym s;

			memcpy(&s, file + table.sh_offset + at, sizeof(s));
			if (s.st_name < strings.sh_size)
				symbol(reader, &s, file + strings.sh_offset + s.st_name);
		}
	}
}
