/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/die.h"
#include "elf/elf_file.h"

/* The chain length is about one in a table that is not built to keep us busy. */
enum { MAX_BUCKETS = 1 << 22, MAX_CHAIN = 1 << 16 };

struct segments {
	const Elf64_Phdr *all;
	size_t n;
};

/* Returns the file offset of an address; 0, where the ELF header is, if it is not in the file. */
static unsigned long long offset_of(const struct segments *s, unsigned long long addr)
{
	for (size_t i = 0; i < s->n; i++) {
		const Elf64_Phdr *p = &s->all[i];

		if (p->p_type == PT_LOAD && addr >= p->p_vaddr && addr - p->p_vaddr < p->p_filesz)
			return addr - p->p_vaddr + p->p_offset;
	}
	return 0;
}

/* Reads the values of the tags below max, and that of DT_GNU_HASH into tags[max]. */
static bool read_tags(const struct elf_bytes *b, const struct segments *s,
		      unsigned long long *tags, size_t max)
{
	const Elf64_Phdr *p = s->all;
	Elf64_Dyn *dyn;
	size_t n;

	while (p < s->all + s->n && p->p_type != PT_DYNAMIC)
		p++;
	if (p == s->all + s->n)
		return false;
	n = p->p_filesz / sizeof(*dyn);
	dyn = elf_bytes_part(b, p->p_offset, n * sizeof(*dyn));
	for (size_t i = 0; dyn && i < n && dyn[i].d_tag != DT_NULL; i++)
		if (dyn[i].d_tag > 0 && dyn[i].d_tag < (Elf64_Sxword)max)
			tags[dyn[i].d_tag] = dyn[i].d_un.d_val;
		else if (dyn[i].d_tag == DT_GNU_HASH)
			tags[max] = dyn[i].d_un.d_val;
	free(dyn);
	return dyn;
}

static bool read_words(const struct elf_bytes *b, unsigned long long at, Elf64_Word *words, size_t n)
{
	Elf64_Word *part = at ? elf_bytes_part(b, at, n * sizeof(*part)) : NULL;

	for (size_t i = 0; part && i < n; i++)
		words[i] = part[i];
	free(part);
	return part;
}

/* The only way to count the symbols: take the largest index in the buckets, and follow its chain to
 * the end (https://flapenguin.me/elf-dt-gnu-hash). */
static unsigned long long count_gnu(const struct elf_bytes *b, unsigned long long at)
{
	enum { BUCKETS, FIRST, BLOOM, SHIFT, HEAD };
	Elf64_Word head[HEAD], *buckets, last = 0, link = 0;

	if (!read_words(b, at, head, HEAD) || head[BUCKETS] > MAX_BUCKETS)
		return 0;
	at += sizeof(head) + 8ull * head[BLOOM];
	buckets = elf_bytes_part(b, at, head[BUCKETS] * sizeof(*buckets));
	for (Elf64_Word i = 0; buckets && i < head[BUCKETS]; i++)
		last = buckets[i] > last ? buckets[i] : last;
	free(buckets);
	if (!buckets || last < head[FIRST])
		return 0;
	at += 4ull * head[BUCKETS] + 4ull * (last - head[FIRST]);
	for (int i = 0; i < MAX_CHAIN && !(link & 1); i++, at += 4, last++)
		if (!read_words(b, at, &link, 1))
			return 0;
	return last;
}

static unsigned long long count(const struct elf_bytes *b, const struct segments *s,
				const unsigned long long *tags, size_t gnu)
{
	Elf64_Word head[2];	/* buckets, symbols */

	if (tags[DT_HASH] && read_words(b, offset_of(s, tags[DT_HASH]), head, 2))
		return head[1];
	return count_gnu(b, offset_of(s, tags[gnu]));
}

Elf64_Shdr *elf_dynamic_sections(const struct elf_bytes *b, const Elf64_Phdr *segments,
				 size_t nsegments, size_t *n)
{
	enum { NONE, SYMBOLS, STRINGS, SECTIONS, TAGS = DT_SYMENT + 1 };
	const struct segments s = { segments, nsegments };
	unsigned long long tags[TAGS + 1] = { 0 };
	Elf64_Shdr *sections, *symbols, *strings;

	*n = 0;
	if (!read_tags(b, &s, tags, TAGS))
		return NULL;
	*n = SECTIONS;
	sections = xcalloc(SECTIONS, sizeof(*sections));
	symbols = &sections[SYMBOLS];
	symbols->sh_type = SHT_DYNSYM;
	symbols->sh_offset = offset_of(&s, tags[DT_SYMTAB]);
	symbols->sh_entsize = tags[DT_SYMENT];
	symbols->sh_size = count(b, &s, tags, TAGS) * sizeof(Elf64_Sym);
	symbols->sh_link = STRINGS;
	strings = &sections[STRINGS];
	strings->sh_type = SHT_STRTAB;
	strings->sh_offset = offset_of(&s, tags[DT_STRTAB]);
	strings->sh_size = tags[DT_STRSZ];
	return sections;
}
