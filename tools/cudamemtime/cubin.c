/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <gelf.h>
#include <string.h>
#include "cudamemtime/cubin.h"

enum { INSTRUCTION = 16 };	/* bytes, since sm_70 */

static const char text[] = ".text.";

/* Returns the next section of code, and the function's name and size. */
static Elf_Scn *next_text(Elf *elf, Elf_Scn *section, const char **name, size_t *size)
{
	size_t names;
	GElf_Shdr head;

	if (elf_getshdrstrndx(elf, &names))
		return NULL;
	while ((section = elf_nextscn(elf, section))) {
		*name = gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;
		if (!*name || strncmp(*name, text, strlen(text)))
			continue;
		*name += strlen(text);
		*size = head.sh_size;
		return section;
	}
	return NULL;
}

unsigned cubin_instructions(int fd, const char *symbol)
{
	Elf_Scn *section = NULL;
	unsigned found = 0;
	const char *name;
	size_t size;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	while (elf && (section = next_text(elf, section, &name, &size)))
		if (!strcmp(name, symbol))
			found = size / INSTRUCTION;
	elf_end(elf);
	return found;
}

unsigned cubin_functions(char *data, size_t size)
{
	Elf_Scn *section = NULL;
	unsigned found = 0;
	const char *name;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_memory(data, size);
	while (elf && (section = next_text(elf, section, &name, &size)))
		found++;
	elf_end(elf);
	return found;
}
