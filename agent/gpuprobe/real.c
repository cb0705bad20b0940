/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include "agent/gpuprobe/real.h"

/* libc_function() finds dlsym in the C library's symbol table, because by name the linker finds the wrapper.  A sanitizer
 * calls dlsym first, to find the functions that its own strcmp() and dl_iterate_phdr() call, so no function that can be
 * interposed is called here. */

struct table {
	const ElfW(Sym) *symbols;
	const char *strings;
	const uint32_t *hash;		/* DT_GNU_HASH */
};

static bool same(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

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
		    ELF64_ST_TYPE(s->st_info) == STT_FUNC && same(t->strings + s->st_name, name))
			return s->st_value;
		if (chain[i - first] & 1)
			break;
	}
	return 0;
}

static bool is_libc(const char *path)
{
	const char *base = path;

	for (; *path; path++)
		if (*path == '/')
			base = path + 1;
	return same(base, "libc.so.6") || same(base, "libdl.so.2");
}

static void *in_object(const struct link_map *object, const char *name)
{
	struct table t = { 0 };
	ElfW(Addr) value;

	for (const ElfW(Dyn) *dyn = object->l_ld; dyn->d_tag != DT_NULL; dyn++) {
		const void *p = (const void *)dyn->d_un.d_ptr;	/* the linker has relocated it */

		if (dyn->d_tag == DT_SYMTAB)
			t.symbols = p;
		else if (dyn->d_tag == DT_STRTAB)
			t.strings = p;
		else if (dyn->d_tag == DT_GNU_HASH)
			t.hash = p;
	}
	value = t.symbols && t.strings && t.hash ? lookup(&t, name) : 0;
	return value ? (void *)(object->l_addr + value) : NULL;
}

/* Returns a function of libc.so.6 or libdl.so.2 without asking the dynamic linker for it by name, or NULL. */
static void *libc_function(const char *name)
{
	void *found = NULL;

	for (const struct link_map *object = _r_debug.r_map; object && !found; object = object->l_next)
		if (is_libc(object->l_name))
			found = in_object(object, name);
	return found;
}

/* one per process; storing the same value twice is harmless */
static struct {
	void *dlsym, *dlvsym;
	struct driver *driver;
} found;

#define LOAD(p) __atomic_load_n(&(p), __ATOMIC_ACQUIRE)
#define STORE(p, v) __atomic_store_n(&(p), v, __ATOMIC_RELEASE)

static void *find_once(void **where, const char *name)
{
	if (!LOAD(*where))
		STORE(*where, libc_function(name));
	return LOAD(*where);
}

dlsym_fn *real_dlsym(void)
{
	return (dlsym_fn *)find_once(&found.dlsym, "dlsym");
}

dlvsym_fn *real_dlvsym(void)
{
	return (dlvsym_fn *)find_once(&found.dlvsym, "dlvsym");
}

const struct driver *real_driver(void)
{
	struct driver *driver = LOAD(found.driver), *none = NULL;
	dlsym_fn *sym = real_dlsym();
	void *cuda;

	if (driver || !sym)
		return driver;
	cuda = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
	if (!cuda)
		return NULL;
	driver = malloc(sizeof(*driver));
	if (!driver)
		return NULL;
#define FIND(name, params) *(void **)&driver->name = sym(cuda, #name);
	DRIVER_FUNCTIONS(FIND, FIND)
	if (!__atomic_compare_exchange_n(&found.driver, &none, driver, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
		free(driver);
		driver = none;
	}
	return driver;
}
