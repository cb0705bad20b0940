/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "cudabt/bt_standin.h"
#include "api/cuda_protos.h"
#include "base/die.h"

/* each function has STEP bytes, from START on: an address of 0 is no function's */
enum { START = 4096, STEP = 16 };
enum { NONE, TEXT, SYMTAB, STRTAB, NSECTIONS };

struct standin {
	Elf64_Ehdr header;
	Elf64_Phdr code;
	Elf64_Shdr sections[NSECTIONS];
};

static void add_header(struct standin *s, unsigned long long size)
{
	s->header = (Elf64_Ehdr){
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_DYN, .e_machine = EM_X86_64, .e_version = EV_CURRENT,
		.e_phoff = offsetof(struct standin, code), .e_shoff = offsetof(struct standin, sections),
		.e_ehsize = sizeof(Elf64_Ehdr), .e_phentsize = sizeof(Elf64_Phdr), .e_phnum = 1,
		.e_shentsize = sizeof(Elf64_Shdr), .e_shnum = NSECTIONS, .e_shstrndx = STRTAB,
	};
	s->code = (Elf64_Phdr){ .p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_filesz = size,
				.p_memsz = size, .p_align = START };
}

static void add_section(struct standin *s, int which, int type, unsigned long long at,
			unsigned long long size)
{
	s->sections[which] = (Elf64_Shdr){ .sh_type = type, .sh_offset = at, .sh_size = size, .sh_addralign = 8 };
}

static void add_sections(struct standin *s, unsigned long long code, size_t symbols, size_t strings)
{
	add_section(s, TEXT, SHT_PROGBITS, START, code);
	s->sections[TEXT].sh_flags = SHF_ALLOC | SHF_EXECINSTR;
	s->sections[TEXT].sh_addr = START;
	add_section(s, SYMTAB, SHT_SYMTAB, START + code, symbols);
	s->sections[SYMTAB].sh_link = STRTAB;
	s->sections[SYMTAB].sh_info = 1;	/* the first that is not local */
	s->sections[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	add_section(s, STRTAB, SHT_STRTAB, START + code + symbols, strings);
}

static void print_symbols(FILE *f, const struct elf_scan *scan)
{
	Elf64_Sym sym = { 0 };
	size_t name = 1;

	fwrite(&sym, sizeof(sym), 1, f);
	for (int i = 0; i < scan->n; i++) {
		sym = (Elf64_Sym){ .st_name = name, .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				   .st_shndx = TEXT, .st_value = START + i * STEP, .st_size = STEP };
		fwrite(&sym, sizeof(sym), 1, f);
		name += strlen(cuda_protos[scan->probes[i].id].name) + 1;
	}
	putc(0, f);
	for (int i = 0; i < scan->n; i++)
		fwrite(cuda_protos[scan->probes[i].id].name, 1,
		       strlen(cuda_protos[scan->probes[i].id].name) + 1, f);
}

int bt_standin_new(const struct elf_scan *scan)
{
	unsigned long long code = (unsigned long long)scan->n * STEP;
	struct standin s = { 0 };
	int fd = memfd_create("cuda", MFD_CLOEXEC);
	FILE *f = fd < 0 ? NULL : fdopen(dup(fd), "w");
	size_t strings = 1;

	for (int i = 0; i < scan->n; i++)
		strings += strlen(cuda_protos[scan->probes[i].id].name) + 1;
	add_header(&s, START + code);
	add_sections(&s, code, (scan->n + 1) * sizeof(Elf64_Sym), strings);
	if (!f || fwrite(&s, sizeof(s), 1, f) != 1 || fseek(f, START + code, SEEK_SET))
		die(errno, "cannot make a file in memory");
	print_symbols(f, scan);
	if (fclose(f))
		die(errno, "cannot make a file in memory");
	return fd;
}

int bt_standin_probe(const struct elf_scan *scan, unsigned long long offset)
{
	unsigned long long i = (offset - START) / STEP;

	return offset >= START && (offset - START) % STEP == 0 && i < (unsigned)scan->n ? (int)i : -1;
}
