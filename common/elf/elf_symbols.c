/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/die.h"
#include "elf/elf.h"
#include "elf/elf_file.h"

struct symbol {
	unsigned long long start, size;
	const char *name;
};

struct elf_symbols {
	struct elf_file file;	/* holds the names */
	struct symbol *symbols;
	size_t n, room;
};

static bool keep_symbol(void *ctx, const char *name, const Elf64_Sym *sym)
{
	struct elf_symbols *s = ctx;
	unsigned long long offset;

	if (!*name || !elf_file_offset(&s->file, sym->st_value, &offset))
		return true;
	if (s->n == s->room) {
		s->room = s->room ? 2 * s->room : 256;
		s->symbols = xrealloc(s->symbols, s->room, sizeof(*s->symbols));
	}
	s->symbols[s->n++] = (struct symbol){ offset, sym->st_size, name };
	return true;
}

/* Of several symbols at one address, the largest sorts last and is the one found. */
static int by_start(const void *a, const void *b)
{
	const struct symbol *p = a, *q = b;

	if (p->start != q->start)
		return p->start < q->start ? -1 : 1;
	return (p->size > q->size) - (p->size < q->size);
}

struct elf_symbols *elf_symbols_load(int fd)
{
	struct elf_symbols *s = xcalloc(1, sizeof(*s));

	if (elf_file_open(&s->file, fd)) {
		free(s);
		return NULL;
	}
	elf_file_symbols(&s->file, STT_FUNC, keep_symbol, s);
	if (!s->n) {
		elf_symbols_free(s);
		return NULL;
	}
	s->symbols = xrealloc(s->symbols, s->n, sizeof(*s->symbols));
	qsort(s->symbols, s->n, sizeof(*s->symbols), by_start);
	return s;
}

void elf_symbols_free(struct elf_symbols *s)
{
	if (!s)
		return;
	elf_file_close(&s->file);
	free(s->symbols);
	free(s);
}

size_t elf_symbols_size(const struct elf_symbols *s)
{
	return s->n * sizeof(*s->symbols) + s->file.nstrings;
}

const char *elf_symbols_find(const struct elf_symbols *s, unsigned long long offset,
			     unsigned long long *off)
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
	*off = offset - found->start;
	return found->size && *off >= found->size ? NULL : found->name;
}
