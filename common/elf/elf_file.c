/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/die.h"
#include "elf/elf_file.h"
#include "machine/elf.h"

/* Bytes of names: those of PyTorch's libraries take 78 MiB. */
enum { MANY_NAMES = 4 << 20 };

enum { MAX_SEGMENTS = 4096, MAX_NAME = 65535, AVERAGE_NAME = 256, PIECE = 1 << 10 };

static const char INVALID[] = "invalid symbol table";

static bool read_all(int fd, char *to, unsigned long long at, unsigned long long size)
{
	ssize_t n;

	for (unsigned long long got = 0; got < size; got += n) {
		n = pread(fd, to + got, size - got, at + got);
		if (n <= 0)
			return false;
	}
	return true;
}

/* Sets *from and *to to the next data between them; false if there are only holes. */
static bool next_data(int fd, unsigned long long *from, unsigned long long *to)
{
	off_t data = lseek(fd, *from, SEEK_DATA), hole;

	if (data < 0)		/* ENXIO: there is none; else not supported */
		return errno != ENXIO;
	hole = lseek(fd, data, SEEK_HOLE);
	if ((unsigned long long)data >= *to)
		return false;
	*from = data;
	if (hole > data && (unsigned long long)hole < *to)
		*to = hole;
	return true;
}

/* Holes are not worth a search in less than SMALL. */
enum { SMALL = 64 << 10 };

void *elf_bytes_part(const struct elf_bytes *b, unsigned long long at, unsigned long long size)
{
	unsigned long long from = at, to = at + size;
	char *part;

	if (!size || size > ELF_MAX_PART || size > b->size || at > b->size - size)
		return NULL;
	part = xcalloc(1, size);
	while (from < at + size && (size <= SMALL || next_data(b->fd, &from, &to))) {
		if (!read_all(b->fd, part + (from - at), from, to - from)) {
			free(part);
			return NULL;
		}
		from = to;
		to = at + size;
	}
	return part;
}

static const char *check(const Elf64_Ehdr *h)
{
	if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG))
		return "not an ELF file";
	if (h->e_machine != MACHINE_ELF || h->e_ident[EI_CLASS] != ELFCLASS64 ||
	    h->e_ident[EI_DATA] != ELFDATA2LSB)
		return "not a " MACHINE_NAME " ELF file";
	if (h->e_type != ET_EXEC && h->e_type != ET_DYN)
		return "neither an executable nor a shared library";
	if (!h->e_phnum || h->e_phnum > MAX_SEGMENTS || h->e_phentsize != sizeof(Elf64_Phdr))
		return "ELF file without program headers";
	if (h->e_shnum && h->e_shentsize != sizeof(Elf64_Shdr))
		return "ELF file with invalid section headers";
	return NULL;
}

/* Keeps the executable segments that lie within the file. */
static void choose_segments(struct elf_file *f)
{
	f->loads = xcalloc(f->nsegments, sizeof(*f->loads));
	for (size_t i = 0; i < f->nsegments; i++) {
		const Elf64_Phdr *p = &f->segments[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X && p->p_filesz <= f->bytes.size &&
		    p->p_offset <= f->bytes.size - p->p_filesz)
			f->loads[f->nloads++] = *p;
	}
}

static const char *read_headers(struct elf_file *f, const Elf64_Ehdr *h)
{
	const char *error = check(h);

	if (error)
		return error;
	f->nsections = h->e_shnum;
	f->names = h->e_shstrndx;
	f->nsegments = h->e_phnum;
	f->segments = elf_bytes_part(&f->bytes, h->e_phoff, h->e_phnum * sizeof(*f->segments));
	f->sections = elf_bytes_part(&f->bytes, h->e_shoff, f->nsections * sizeof(*f->sections));
	if (!f->segments || (f->nsections && !f->sections))
		return "truncated ELF file";
	f->bare = !f->nsections;
	if (f->bare)
		f->sections = elf_dynamic_sections(&f->bytes, f->segments, h->e_phnum, &f->nsections);
	choose_segments(f);
	return NULL;
}

const char *elf_file_open(struct elf_file *f, int fd)
{
	const char *error;
	Elf64_Ehdr *head;
	struct stat st;

	memset(f, 0, sizeof(*f));
	f->bytes.fd = fd;
	f->bytes.size = fstat(fd, &st) ? 0 : st.st_size;
	head = elf_bytes_part(&f->bytes, 0, sizeof(*head));
	error = read_headers(f, head);
	free(head);
	if (error)
		elf_file_close(f);
	return error;
}

void elf_file_close(struct elf_file *f)
{
	free(f->segments);
	free(f->loads);
	free(f->sections);
	free(f->strings[0]);
	free(f->strings[1]);
}

bool elf_file_offset(const struct elf_file *f, unsigned long long addr,
		     unsigned long long *offset)
{
	for (size_t i = 0; i < f->nloads; i++) {
		const Elf64_Phdr *p = &f->loads[i];

		if (addr >= p->p_vaddr && addr - p->p_vaddr < p->p_filesz) {
			*offset = addr - p->p_vaddr + p->p_offset;
			return true;
		}
	}
	return false;
}

const Elf64_Phdr *elf_file_segment(const struct elf_file *f, unsigned type)
{
	for (size_t i = 0; i < f->nsegments; i++)
		if (f->segments[i].p_type == type)
			return &f->segments[i];
	return NULL;
}

char *elf_file_strings(const struct elf_file *f, size_t section, size_t *size)
{
	const Elf64_Shdr *s = section < f->nsections ? &f->sections[section] : NULL;
	char *strings;

	if (!s || s->sh_type != SHT_STRTAB || s->sh_flags & SHF_COMPRESSED)
		return NULL;
	strings = elf_bytes_part(&f->bytes, s->sh_offset, s->sh_size);
	if (strings && strings[s->sh_size - 1]) {
		free(strings);
		return NULL;
	}
	*size = s->sh_size;
	return strings;
}

const Elf64_Shdr *elf_file_section(const struct elf_file *f, const char *name)
{
	const Elf64_Shdr *found = NULL;
	size_t size = 0;
	char *names = elf_file_strings(f, f->names, &size);

	for (size_t i = 0; names && !found && i < f->nsections; i++)
		if (f->sections[i].sh_name < size && !strcmp(names + f->sections[i].sh_name, name))
			found = &f->sections[i];
	free(names);
	return found;
}

struct visitor {
	int type;
	bool (*fn)(void *ctx, const char *name, const Elf64_Sym *sym);
	void *ctx;
	const char *strings;	/* the names, or NULL */
	size_t size;		/* of these, bytes */
	size_t left;		/* names may share bytes; a file in which they do so excessively is built to keep us busy
				 * reading them: what may still be read */
	bool done;		/* fn returned false */
};

static const char *visit(struct visitor *v, const Elf64_Sym *symbols, size_t n)
{
	for (size_t i = 0; i < n && !v->done; i++) {
		const Elf64_Sym *sym = &symbols[i];
		size_t len;

		if (ELF64_ST_TYPE(sym->st_info) != v->type || sym->st_shndx == SHN_UNDEF ||
		    sym->st_name >= v->size)
			continue;
		if (!v->strings) {
			v->done = !v->fn(v->ctx, NULL, sym);
			continue;
		}
		len = strlen(v->strings + sym->st_name);
		if (len > v->left)
			return "symbol names too long";
		v->left -= len;
		v->done = len <= MAX_NAME && !v->fn(v->ctx, v->strings + sym->st_name, sym);
	}
	return NULL;
}

/* Reads the table in pieces: with its names it may be larger than what a helper may allocate.  In small ones: memory that a
 * new helper uses for the first time takes longer than to read it. */
static const char *visit_table(const struct elf_file *f, const Elf64_Shdr *table, struct visitor *v)
{
	size_t n = table->sh_size / sizeof(Elf64_Sym);
	const char *error = NULL;

	v->left = v->size + n * AVERAGE_NAME;
	v->done = false;
	for (size_t from = 0, piece; from < n && !error && !v->done; from += piece) {
		Elf64_Sym *symbols;

		piece = n - from < PIECE ? n - from : PIECE;
		symbols = elf_bytes_part(&f->bytes, table->sh_offset + from * sizeof(*symbols),
					 piece * sizeof(*symbols));
		error = symbols ? visit(v, symbols, piece) : INVALID;
		free(symbols);
	}
	return error;
}

/* Returns the section; NULL if it is no table of strings. */
static const Elf64_Shdr *string_table(const struct elf_file *f, size_t section)
{
	const Elf64_Shdr *s = section < f->nsections ? &f->sections[section] : NULL;

	return s && s->sh_type == SHT_STRTAB && !(s->sh_flags & SHF_COMPRESSED) ? s : NULL;
}

static const char *read_without_names(struct elf_file *f, const Elf64_Shdr *table, struct visitor *v)
{
	const Elf64_Shdr *strings = string_table(f, table->sh_link);

	if (!strings)
		return INVALID;
	f->names_at = strings->sh_offset;
	v->strings = NULL;
	v->size = strings->sh_size;
	return visit_table(f, table, v);
}

bool elf_file_has_many_names(const struct elf_file *f)
{
	const Elf64_Shdr *strings;

	for (size_t i = 0; i < f->nsections; i++) {
		strings = f->sections[i].sh_type == SHT_SYMTAB ? string_table(f, f->sections[i].sh_link) : NULL;
		if (strings && strings->sh_size > MANY_NAMES)
			return true;
	}
	return false;
}

static const char *elf_file_read_table(struct elf_file *f, const Elf64_Shdr *table, char **strings,
			      struct visitor *v)
{
	if (table->sh_size < sizeof(Elf64_Sym))
		return NULL;
	if (table->sh_size > ELF_MAX_PART)
		return "symbol table too large";
	if (table->sh_entsize != sizeof(Elf64_Sym) || table->sh_flags & SHF_COMPRESSED)
		return INVALID;
	if (f->lazy_names)
		return read_without_names(f, table, v);
	*strings = elf_file_strings(f, table->sh_link, &v->size);
	v->strings = *strings;
	return *strings ? visit_table(f, table, v) : INVALID;
}

const char *elf_file_symbols(struct elf_file *f, int type,
			     bool (*fn)(void *ctx, const char *name, const Elf64_Sym *sym),
			     void *ctx)
{
	struct visitor v = { .type = type, .fn = fn, .ctx = ctx };
	const char *error = NULL, *wrong;

	for (int i = 0; i < 2 - f->exports_only; i++) {
		size_t at = 0;

		/* a file has at most one of each (ELF specification, "Sections") */
		while (at < f->nsections && f->sections[at].sh_type != (i ? SHT_SYMTAB : SHT_DYNSYM))
			at++;
		wrong = at < f->nsections ? elf_file_read_table(f, &f->sections[at], &f->strings[i], &v) : NULL;
		error = error ? error : wrong;
	}
	return error;
}
