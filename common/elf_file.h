/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* An x86-64 ELF file, read with libelf; for elf.c alone. */
#ifndef ELF_FILE_H
#define ELF_FILE_H
#include <gelf.h>
#include <stdbool.h>

struct elf_file {
	Elf *elf;
	int fd;			/* its own: libelf reads parts as they are asked for */
	GElf_Phdr *loads;	/* the executable PT_LOAD segments */
	size_t nloads;
};

/* Opens the file behind fd, which stays the caller's.  NULL, or what is wrong with it; then
 * there is nothing to close. */
const char *elf_file_open(struct elf_file *f, int fd);
void elf_file_close(struct elf_file *f);

/* Where an address of the program's is in the file; false if not in executable code. */
bool elf_file_offset(const struct elf_file *f, unsigned long long addr,
		     unsigned long long *offset);

/* The other way: the address that the program's headers give a place in executable code. */
bool elf_file_address(const struct elf_file *f, unsigned long long offset,
		      unsigned long long *addr);

bool elf_file_section(const struct elf_file *f, const char *name);

/* Calls fn for each function, or symbol of another type, STT_OBJECT, that .symtab and .dynsym
 * define, until it returns false.  NULL, or what is wrong with the file.  The names live as
 * long as f is open. */
const char *elf_file_symbols_of(const struct elf_file *f, int type,
				bool (*fn)(void *ctx, const char *name, const GElf_Sym *sym),
				void *ctx);
const char *elf_file_symbols(const struct elf_file *f,
			     bool (*fn)(void *ctx, const char *name, const GElf_Sym *sym),
			     void *ctx);

#endif
