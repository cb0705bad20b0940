/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Finds dlsym in the C library's symbol table: whatever is asked for by its name leads to the wrapper. */
#define _GNU_SOURCE
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <string.h>
#include "inject/libc.h"

struct table {
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *hash;		/* DT_GNU_HASH */
};

struct search {
	const char *name;
	void *found;
};

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	while (*name)
		h = h * 33 + (unsigned char)*name++;
	return h;
}

/* Returns a function's value, or 0. */
static ElfW(Addr) lookup(const struct table *t, const char *name)
{
	uint32_t buckets = t->hash[0], first = t->hash[1], bloom = t->hash[2], h = gnu_hash(name);
	const uint32_t *bucket = (const uint32_t *)((const ElfW(Addr) *)(t->hash + 4) + bloom);
	const uint32_t *chain = bucket + buckets;
	uint32_t i = buckets ? bucket[h % buckets] : 0;

	for (; i >= first; i++) {
		const ElfW(Sym) *s = &t->symbols[i];

		if ((chain[i - first] | 1) == (h | 1) && s->st_shndx != SHN_UNDEF &&
		    ELF64_ST_TYPE(s->st_info) == STT_FUNC && !strcmp(t->strings + s->st_name, name))
			return s->st_value;
		if (chain[i - first] & 1)
			break;
	}
	return 0;
}

static int in_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const char *base = strrchr(info->dlpi_name, '/');
	const ElfW(Dyn) *dyn = NULL;
	struct search *search = ctx;
	struct table t = { 0 };
	ElfW(Addr) value;

	(void)size;
	base = base ? base + 1 : info->dlpi_name;
	if (strcmp(base, "libc.so.6") && strcmp(base, "libdl.so.2"))
		return 0;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dyn = (const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
	for (; dyn && dyn->d_tag != DT_NULL; dyn++) {
		const void *p = (const void *)dyn->d_un.d_ptr;	/* the linker has relocated it */

		if (dyn->d_tag == DT_SYMTAB)
			t.symbols = p;
		else if (dyn->d_tag == DT_STRTAB)
			t.strings = p;
		else if (dyn->d_tag == DT_GNU_HASH)
			t.hash = p;
	}
	value = t.symbols && t.strings && t.hash ? lookup(&t, search->name) : 0;
	search->found = value ? (void *)(info->dlpi_addr + value) : NULL;
	return search->found != NULL;
}

void *libc_function(const char *name)
{
	struct search search = { name, NULL };

	dl_iterate_phdr(in_object, &search);
	return search.found;
}
