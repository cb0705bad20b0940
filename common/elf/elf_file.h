/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads parts of the machine's 64-bit ELF files (machine/elf.h); elf.h has the functions of a file to probe.  Does not use
 * libelf, which allocates as many sections and reads tables as long as the file claims, decompresses sections, and searches
 * for the end of the names at each symbol: a hostile file of 20 MB kept it busy for minutes.  Here each part is copied, if
 * the file contains it and it is not too large, because the file's owner may change or truncate it meanwhile. */
#ifndef ELF_ELF_FILE_H
#define ELF_ELF_FILE_H
#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

/* More than any library needs; a file that claims more is not worth the memory and time. */
#define ELF_MAX_PART	(128ull << 20)

struct elf_bytes {
	int fd;			/* the caller's */
	unsigned long long size;	/* at open time */
};

/* Returns size bytes of the file from offset at, which the caller frees; NULL if it lacks any.  Holes
 * of a sparse file are not read: they cost their owner nothing. */
void *elf_bytes_part(const struct elf_bytes *b, unsigned long long at, unsigned long long size);

struct elf_file {
	struct elf_bytes bytes;
	Elf64_Phdr *segments;	/* all program headers, unchecked */
	size_t nsegments;
	Elf64_Phdr *loads;	/* the executable PT_LOAD segments within the file */
	size_t nloads;
	Elf64_Shdr *sections;
	size_t nsections, names;	/* names: index of the section with their names */
	bool bare;		/* no section headers; those for .dynsym are made up */
	char *strings[2];	/* of .dynsym and .symtab, once read */
	bool exports_only;	/* set before elf_file_symbols(), which then leaves out .symtab */
	bool lazy_names;	/* set before elf_file_symbols(), which then reads no names: … */
	unsigned long long names_at;	/* … those of the table that it reads begin here, a file offset */
};

/* Reads the headers of the file behind fd, which must stay open as long as f.  Returns NULL, or
 * what is wrong with the file; then there is nothing to close. */
const char *elf_file_open(struct elf_file *f, int fd);
void elf_file_close(struct elf_file *f);

/* Converts an address of the program to a file offset; false if it is not in executable code. */
bool elf_file_offset(const struct elf_file *f, unsigned long long addr,
		     unsigned long long *offset);

/* Returns the first program header of this type, unchecked; NULL if there is none. */
const Elf64_Phdr *elf_file_segment(const struct elf_file *f, unsigned type);

/* Returns the header of the section with this name, unchecked; NULL if there is none. */
const Elf64_Shdr *elf_file_section(const struct elf_file *f, const char *name);

/* Returns the string table in a section, of *size bytes, whose last string is terminated; the caller
 * frees it.  NULL if the section is not one. */
char *elf_file_strings(const struct elf_file *f, size_t section, size_t *size);

/* Return true if the names of .symtab take so much that they are better left in the file. */
bool elf_file_has_many_names(const struct elf_file *f);

/* Makes up the headers of .dynsym and .dynstr for a file without section headers, as the dynamic linker finds
 * them: an array of f->nsections, which elf_file_close() frees.  NULL, and 0, if the file has no dynamic
 * segment. */
Elf64_Shdr *elf_dynamic_sections(const struct elf_bytes *b, const Elf64_Phdr *segments,
				 size_t nsegments, size_t *n);

/* Calls fn for each symbol of this type, STT_FUNC or STT_OBJECT, that .dynsym and .symtab define,
 * until it returns false.  Returns NULL, or what is wrong with the file.  The names, of at most
 * 65535 bytes (symbols with longer ones are skipped), live as long as f is open; with lazy_names they are
 * NULL.  Call once. */
const char *elf_file_symbols(struct elf_file *f, int type,
			     bool (*fn)(void *ctx, const char *name, const Elf64_Sym *sym),
			     void *ctx);

#endif
