/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stddef.h>
#include "agent/inject/inject.h"

__u32 object_hash(const char *name)
{
	__u32 h = 5381;

	while (*name)
		h = h * 33 + (unsigned char)*name++;
	return h;
}

static __u32 sysv_hash(const char *name)
{
	__u32 h = 0;

	while (*name) {
		h = (h << 4) + (unsigned char)*name++;
		h ^= h >> 24 & 0xf0;
		h &= 0xfffffff;
	}
	return h;
}

/* The linker has relocated the addresses in the dynamic section; in the file they are without the base. */
static const void *object_address(const struct object *o, __u64 value)
{
	return (const void *)(value < o->base ? o->base + value : value);
}

static bool dynamic(struct object *o, const ElfW(Dyn) *dyn)
{
	for (; dyn->d_tag != DT_NULL; dyn++) {
		const void *p = object_address(o, dyn->d_un.d_ptr);

		if (dyn->d_tag == DT_SYMTAB)
			o->symbols = p;
		else if (dyn->d_tag == DT_STRTAB)
			o->strings = p;
		else if (dyn->d_tag == DT_GNU_HASH)
			o->gnu = p;
		else if (dyn->d_tag == DT_HASH)
			o->sysv = p;
		else if (dyn->d_tag == DT_VERDEF)
			o->versions = p;
		else if (dyn->d_tag == DT_VERDEFNUM)
			o->nversions = (__u32)dyn->d_un.d_val;
	}
	return o->symbols && o->strings && (o->gnu || o->sysv);
}

static __u32 runtime_of(const char *version)
{
	const char *prefix = "libcudart.so.";
	__u32 major = 0;

	while (*prefix && *version == *prefix)
		version++, prefix++;
	for (; !*prefix && *version >= '0' && *version <= '9' && major < 1000; version++)
		major = major * 10 + (__u32)(*version - '0');
	return major;
}

__u32 object_runtime(const struct object *o)
{
	const ElfW(Verdef) *v = o->versions;
	__u32 major = 0;

	for (__u32 i = 0; v && i < o->nversions && !major; i++) {
		const ElfW(Verdaux) *name = (const void *)((const char *)v + v->vd_aux);

		if (v->vd_cnt && !(v->vd_flags & VER_FLG_BASE))	/* that is its name, which those who rename it change */
			major = runtime_of(o->strings + name->vda_name);
		v = v->vd_next ? (const void *)((const char *)v + v->vd_next) : NULL;
	}
	return major;
}

static bool is_elf(const void *image)
{
	return sys_readable(image) && !memcmp(image, ELFMAG, SELFMAG);
}

static void headers_set(struct object *o, const void *image)
{
	const ElfW(Ehdr) *e = image;

	o->phdr = (const void *)((const char *)image + e->e_phoff);
	o->phdrs = e->e_phnum;
}

bool object_map(struct object *o, const struct link_map *map, const ElfW(Phdr) *headers, int n)
{
	*o = (struct object){ .base = map->l_addr, .phdr = headers, .phdrs = n };
	if (o->base && is_elf((const void *)o->base))
		headers_set(o, (const void *)o->base);
	return map->l_ld && dynamic(o, map->l_ld);
}

bool object_image(struct object *o, const void *image)
{
	const ElfW(Dyn) *dyn = NULL;

	*o = (struct object){ 0 };
	if (!is_elf(image))
		return false;
	headers_set(o, image);
	for (int i = 0; i < o->phdrs; i++)
		if (o->phdr[i].p_type == PT_LOAD && !o->phdr[i].p_offset)
			o->base = (__u64)image - o->phdr[i].p_vaddr;
	for (int i = 0; i < o->phdrs; i++)
		if (o->phdr[i].p_type == PT_DYNAMIC)
			dyn = (const void *)(o->base + o->phdr[i].p_vaddr);
	return dyn && dynamic(o, dyn);
}

/* Search key: definitions after one, of a type. */
struct wanted { const char *name; const ElfW(Sym) *after; unsigned type; };

static bool is_it(const struct object *o, const ElfW(Sym) *s, const struct wanted *w)
{
	return s > w->after && s->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(s->st_info) == w->type && s->st_value &&
	       same(o->strings + s->st_name, w->name);
}

static const ElfW(Sym) *by_sysv(const struct object *o, const struct wanted *w)
{
	__u32 buckets = o->sysv[0], n = o->sysv[1];
	const __u32 *bucket = o->sysv + 2, *chain = bucket + buckets;
	const ElfW(Sym) *first = NULL;

	for (__u32 i = buckets ? bucket[sysv_hash(w->name) % buckets] : 0; i && i < n; i = chain[i])
		if (is_it(o, &o->symbols[i], w) && (!first || &o->symbols[i] < first))
			first = &o->symbols[i];		/* chains go backwards */
	return first;
}

static const ElfW(Sym) *find(const struct object *o, __u32 hash, const struct wanted *w)
{
	const __u32 *g = o->gnu, *bucket, *chain;
	const __u64 *bloom;
	__u64 word;
	__u32 i;

	if (!g)
		return by_sysv(o, w);
	if (!g[0] || !g[2])
		return NULL;
	bloom = (const __u64 *)(g + 4);
	word = bloom[hash / 64 & (g[2] - 1)];
	if (!(word >> hash % 64 & word >> (hash >> g[3]) % 64 & 1))
		return NULL;
	bucket = (const __u32 *)(bloom + g[2]);
	chain = bucket + g[0];
	i = bucket[hash % g[0]];
	if (i < g[1])
		return NULL;
	for (;; i++) {
		if ((chain[i - g[1]] | 1) == (hash | 1) && is_it(o, &o->symbols[i], w))
			return &o->symbols[i];
		if (chain[i - g[1]] & 1)
			return NULL;
	}
}

const ElfW(Sym) *object_symbol(const struct object *o, const char *name, __u32 hash, const ElfW(Sym) *after)
{
	return find(o, hash, &(struct wanted){ name, after, STT_FUNC });
}

const ElfW(Sym) *object_data(const struct object *o, const char *name)
{
	return find(o, object_hash(name), &(struct wanted){ name, NULL, STT_OBJECT });
}

const ElfW(Phdr) *object_segment(const struct object *o, __u64 at)
{
	for (int i = 0; i < o->phdrs; i++) {
		__u64 start = o->base + o->phdr[i].p_vaddr;

		if (o->phdr[i].p_type == PT_LOAD && at >= start && at - start < o->phdr[i].p_memsz)
			return &o->phdr[i];
	}
	return NULL;
}
