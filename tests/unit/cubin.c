/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cubin - how large machine code is that only begins somewhere: agent/gpuprobe/cubin.h, by an ELF file that is made up. */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include "agent/gpuprobe/cubin.h"

enum { SECTIONS = 4, END = 1009, ROOM = 2048 };

static struct {
	Elf64_Ehdr head;
	Elf64_Shdr section[SECTIONS];
	char rest[ROOM];
} file;

static void make(void)
{
	memset(&file, 0, sizeof(file));
	memcpy(file.head.e_ident, ELFMAG, SELFMAG);
	file.head.e_ident[EI_CLASS] = ELFCLASS64;
	file.head.e_shoff = sizeof(file.head);
	file.head.e_shnum = SECTIONS;
	file.section[1] = (Elf64_Shdr){ .sh_type = SHT_PROGBITS, .sh_offset = END - 13, .sh_size = 13 };
	file.section[2] = (Elf64_Shdr){ .sh_type = SHT_NOBITS, .sh_offset = END, .sh_size = 1 << 30 };
	file.section[3] = (Elf64_Shdr){ .sh_type = SHT_STRTAB, .sh_offset = 500, .sh_size = 7 };
}

static void tell(const char *what, size_t size)
{
	printf("%s: %zu\n", what, cubin_size(&file, size));
	make();
}

int main(void)
{
	make();
	tell("to the end of the last section", sizeof(file));
	tell("all of it", END);
	tell("one byte less", END - 1);
	file.section[3].sh_type = SHT_NOBITS;
	file.section[1].sh_type = SHT_NOBITS;
	tell("the tables alone", sizeof(file));
	file.section[1].sh_size = SIZE_MAX;
	tell("a section without end", sizeof(file));
	file.section[1].sh_offset = SIZE_MAX - 5;
	tell("one that wraps around", sizeof(file));
	file.head.e_phoff = sizeof(file) - sizeof(Elf64_Phdr);
	file.head.e_phnum = 1;
	tell("a table at the end", sizeof(file));
	file.head.e_shoff = sizeof(file);
	tell("one behind it", sizeof(file));
	file.head.e_ident[EI_CLASS] = ELFCLASS32;
	tell("32 bits", sizeof(file));
	file.head.e_ident[1] = 0;
	tell("no ELF", sizeof(file));
	tell("half a head", sizeof(file.head) - 1);
	return 0;
}
