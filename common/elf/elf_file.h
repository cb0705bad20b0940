/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* An x86-64 ELF file, read for elf.c alone.  Not with libelf: it makes room for as many sections
 * and reads tables as long as the file says, unpacks what is compressed, and looks for the end of
 * the names at each symbol, so that 20 MB of a hostile file kept it busy for minutes.  Here each
 * part is read once: see elf_bytes.h. */
#ifndef ELF_FILE_H
#define ELF_FILE_H
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include "elf/elf_bytes.h"

struct elf_file {
	struct elf_bytes bytes;
	Elf64_Phdr *loads;	/* the executable PT_LOAD segments that the file has */
	size_t nloads;
	Elf64_Shdr *sections;
	size_t nsections, names;	/* names: the section that has theirs */
	bool bare;		/* the file has none; those of .dynsym are made up */
	char *strings[2];	/* of .dynsym and .symtab, once they are read */
	size_t nstrings;	/* bytes */
};

/* Reads the headers of the file behind fd, which is to stay open as long as f.  NULL, or what is
 * wrong with it; then there is nothing to close. */
const char *elf_file_open(struct elf_file *f, int fd);
void elf_file_close(struct elf_file *f);

/* Where an address of the program's is in the file; false if not in executable code. */
bool elf_file_offset(const struct elf_file *f, unsigned long long addr,
		     unsigned long long *offset);

/* The other way: the address that the program's headers give a place in executable code. */
bool elf_file_address(const struct elf_file *f, unsigned long long offset,
		      unsigned long long *addr);

bool elf_file_section(const struct elf_file *f, const char *name);

/* Calls fn for each symbol of this type, STT_FUNC or STT_OBJECT, that .dynsym and .symtab define,
 * until it returns false.  NULL, or what is wrong with the file.  The names, of at most 65535
 * bytes (symbols with longer ones are left out), live as long as f is open.  To be called once. */
const char *elf_file_symbols(struct elf_file *f, int type,
			     bool (*fn)(void *ctx, const char *name, const Elf64_Sym *sym),
			     void *ctx);

#endif
