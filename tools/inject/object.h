/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* An ELF object that is mapped: its dynamic symbols. */
#ifndef INJECT_OBJECT_H
#define INJECT_OBJECT_H
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <linux/types.h>

struct object {
	__u64 base;		/* added to the addresses in the file */
	const ElfW(Phdr) *phdr;
	int phdrs;		/* 0: not found */
	const ElfW(Sym) *symbols;
	const char *strings;
	const __u32 *gnu, *sysv;	/* hash tables, NULL: it has none */
};

/* Return false if it has no symbols.  object_map() is of an object of the dynamic linker, headers: AT_PHDR if it is the
 * program itself, which is not always mapped from its beginning; object_image() of what is mapped as it is in the file. */
bool object_map(struct object *o, const struct link_map *map, const ElfW(Phdr) *headers, int n);
bool object_image(struct object *o, const void *image);

__u32 object_hash(const char *name);

/* Returns the first definition of a function of that name after that symbol; NULL if there are no more. */
const ElfW(Sym) *object_symbol(const struct object *o, const char *name, __u32 hash, const ElfW(Sym) *after);

/* Returns the segment that has this address; NULL if none is known. */
const ElfW(Phdr) *object_segment(const struct object *o, __u64 at);

#endif
