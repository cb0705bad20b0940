/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>
#include "base/die.h"
#include "elf/elf.h"
#include "elf/elf_file.h"

/* SIZE: bytes.  A file has two executable segments if its code is split at all. */
enum { MAX_SIZE = 64 << 20, MAX_LOADS = 8, MAX_NAME = 8192 };

struct symbol {
	unsigned long long start;
	unsigned int size, name;	/* name: offset from the block's strings; lazy: in the file */
};

struct load {
	unsigned long long offset, addr, size;
};

struct elf_symbols {
	size_t n, strings;	/* bytes */
	bool lazy;		/* the names are in the file */
	struct load loads[MAX_LOADS];
	struct symbol symbols[];	/* the strings follow */
};

/* While a block grows, symbols and strings are separate. */
struct builder {
	const struct elf_file *file;
	const char *end;	/* of variables */
	size_t max;
	struct symbol *symbols;
	char *strings;
	size_t n, size, room, strings_room;
};

static void elf_symbols_add(struct builder *b, unsigned long long start, unsigned long long size, const char *name)
{
	size_t len = strlen(name) + 1;

	ALLOC_GROW(b->symbols, b->n, b->room);
	while (b->size + len > b->strings_room) {
		b->strings_room = b->strings_room ? 2 * b->strings_room : 4096;
		b->strings = xrealloc(b->strings, b->strings_room, 1);
	}
	b->symbols[b->n++] = (struct symbol){ start, size < ~0u ? size : ~0u, b->size };
	memcpy(b->strings + b->size, name, len);
	b->size += len;
}

static void add_lazy(struct builder *b, unsigned long long start, unsigned long long size,
		      unsigned long long name)
{
	if (name > ~0u)
		return;
	elf_symbols_add(b, start, size, "");
	b->symbols[b->n - 1].name = name;
	b->size = 0;
}

static bool has_room(const struct builder *b)
{
	return b->size + b->n * sizeof(*b->symbols) < MAX_SIZE;
}

static bool keep_function(void *ctx, const char *name, const Elf64_Sym *sym)
{
	struct builder *b = ctx;
	unsigned long long offset;

	if ((name ? *name != 0 : sym->st_name != 0) && elf_file_offset(b->file, sym->st_value, &offset)) {
		if (name)
			elf_symbols_add(b, offset, sym->st_size, name);
		else
			add_lazy(b, offset, sym->st_size, b->file->names_at + sym->st_name);
	}
	return has_room(b);
}

/* Reads a name that was left in the file into the buffer; "" if it is not there or too long. */
static const char *read_name(const struct builder *b, const Elf64_Sym *sym, char *to, size_t size)
{
	ssize_t n = pread(b->file->bytes.fd, to, size - 1, b->file->names_at + sym->st_name);

	to[n > 0 ? n : 0] = 0;
	return strlen(to) < size - 1 ? to : "";
}

static bool keep_variable(void *ctx, const char *name, const Elf64_Sym *sym)
{
	struct builder *b = ctx;
	char text[MAX_NAME];
	size_t len, end = strlen(b->end);

	if (sym->st_size != 8)
		return true;
	if (!name)
		name = read_name(b, sym, text, sizeof(text));
	len = strlen(name);
	if (len >= end && !strcmp(name + len - end, b->end))
		elf_symbols_add(b, sym->st_value, sym->st_size, name);
	return b->n < b->max && has_room(b);
}

/* Of several symbols at one address, the largest sorts last and is the one found. */
static int by_start(const void *a, const void *b)
{
	const struct symbol *p = a, *q = b;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return (p->size > q->size) - (p->size < q->size);
}

/* Sorts the symbols and keeps one for each address; returns the size of their strings. */
static size_t keep_best(struct builder *b)
{
	size_t kept = 0, strings = 0;

	if (b->n)
		qsort(b->symbols, b->n, sizeof(*b->symbols), by_start);
	for (size_t i = 0; i < b->n; i++)
		if (i + 1 == b->n || b->symbols[i + 1].start != b->symbols[i].start) {
			if (!b->file->lazy_names)
				strings += strlen(b->strings + b->symbols[i].name) + 1;
			b->symbols[kept++] = b->symbols[i];
		}
	b->n = kept;
	return strings;
}

static void copy(struct elf_symbols *s, const struct builder *b)
{
	char *strings = (char *)(s->symbols + b->n), *at = strings;

	s->n = b->n;
	for (size_t i = 0; i < b->n; i++) {
		s->symbols[i] = b->symbols[i];
		if (s->lazy)
			continue;
		s->symbols[i].name = at - strings;
		at = stpcpy(at, b->strings + b->symbols[i].name) + 1;
	}
	for (size_t i = 0; i < b->file->nloads && i < MAX_LOADS; i++) {
		const Elf64_Phdr *p = &b->file->loads[i];

		s->loads[i] = (struct load){ p->p_offset, p->p_vaddr, p->p_filesz };
	}
}

/* Makes the block; frees what it is made from. */
static struct elf_symbols *build(struct builder *b)
{
	size_t strings = keep_best(b);
	struct elf_symbols *s = NULL;

	if (b->n) {
		s = xcalloc(1, sizeof(*s) + b->n * sizeof(*b->symbols) + strings);
		s->strings = strings;
		s->lazy = b->file->lazy_names;
		copy(s, b);
	}
	free(b->symbols);
	free(b->strings);
	return s;
}

/* The addresses are the same in both, and the offsets those of the file itself. */
static void add_debug(struct builder *b, int debug)
{
	struct elf_file file;

	if (elf_file_open(&file, debug))
		return;
	elf_file_symbols(&file, STT_FUNC, keep_function, b);
	elf_file_close(&file);
}

struct elf_symbols *elf_functions_load(int fd, int debug)
{
	struct elf_symbols *s;
	struct elf_file file;
	struct builder b = { .file = &file };

	if (elf_file_open(&file, fd))
		return NULL;
	file.lazy_names = debug < 0 && elf_file_has_many_names(&file);
	elf_file_symbols(&file, STT_FUNC, keep_function, &b);
	if (debug >= 0)
		add_debug(&b, debug);
	s = build(&b);
	elf_file_close(&file);
	return s;
}

struct elf_symbols *elf_variables_load(int fd, const char *end, size_t max)
{
	struct elf_symbols *s;
	struct elf_file file;
	struct builder b = { .file = &file, .end = end, .max = max };

	if (elf_file_open(&file, fd))
		return NULL;
	file.lazy_names = elf_file_has_many_names(&file);
	if (elf_file_section(&file, ".nv_fatbin"))
		elf_file_symbols(&file, STT_OBJECT, keep_variable, &b);
	file.lazy_names = false;	/* they were read */
	s = build(&b);
	elf_file_close(&file);
	return s;
}

size_t elf_symbols_size(const struct elf_symbols *s)
{
	return sizeof(*s) + s->n * sizeof(*s->symbols) + s->strings;
}

static const char *name_of(const struct elf_symbols *s, size_t i)
{
	return (const char *)(s->symbols + s->n) + s->symbols[i].name;
}

/* Returns the symbol of the function at this file offset; NULL if there is none. */
static const struct symbol *find(const struct elf_symbols *s, unsigned long long offset)
{
	size_t low = 0, high = s->n;
	const struct symbol *found;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->symbols[mid].start <= offset)
			low = mid + 1;
		else
			high = mid;
	}
	if (!low)
		return NULL;
	found = &s->symbols[low - 1];
	return found->size && offset - found->start >= found->size ? NULL : found;
}

const char *elf_symbols_find(const struct elf_symbols *s, unsigned long long offset,
			     unsigned long long *off)
{
	const struct symbol *found = s->lazy ? NULL : find(s, offset);

	if (!found)
		return NULL;
	*off = offset - found->start;
	return name_of(s, found - s->symbols);
}

unsigned long long elf_symbols_name_offset(const struct elf_symbols *s, unsigned long long offset,
					  unsigned long long *off)
{
	const struct symbol *found = s->lazy ? find(s, offset) : NULL;

	if (!found)
		return 0;
	*off = offset - found->start;
	return found->name;
}

const char *elf_symbols_get(const struct elf_symbols *s, size_t i, unsigned long long *at)
{
	if (i >= s->n || s->lazy)
		return NULL;
	*at = s->symbols[i].start;
	return name_of(s, i);
}

bool elf_symbols_address(const struct elf_symbols *s, unsigned long long offset,
			 unsigned long long *addr)
{
	for (int i = 0; i < MAX_LOADS; i++) {
		const struct load *l = &s->loads[i];

		/* mappings start at a page boundary */
		if (l->size && offset >= (l->offset & ~0xfffull) && offset < l->offset + l->size) {
			*addr = offset - l->offset + l->addr;
			return true;
		}
	}
	return false;
}
