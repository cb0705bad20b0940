/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <gelf.h>
#include <string.h>
#include "cudamemtime/cubin.h"

enum { INSTRUCTION = 16 };	/* bytes, since sm_70 */

static unsigned find(Elf *elf, const char *symbol)
{
	static const char text[] = ".text.";
	size_t names;
	GElf_Shdr head;
	Elf_Scn *section = NULL;

	if (elf_getshdrstrndx(elf, &names))
		return 0;
	while ((section = elf_nextscn(elf, section))) {
		const char *name = gelf_getshdr(section, &head) ? elf_strptr(elf, names, head.sh_name) : NULL;

		if (name && !strncmp(name, text, strlen(text)) && !strcmp(name + strlen(text), symbol))
			return head.sh_size / INSTRUCTION;
	}
	return 0;
}

unsigned cubin_instructions(int fd, const char *symbol)
{
	unsigned found = 0;
	Elf *elf;

	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF)
		found = find(elf, symbol);
	elf_end(elf);
	return found;
}
