/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Gives the functions of a library stubs, in its symbol table: nothing is bound to it yet. */
#include <stddef.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include "inject/inject.h"
#include "inject/object.h"
#include "inject/syscall.h"

enum { PAGE = 4096, GIVES = 6 };

/* Until the tool has said which functions it wants, a library is CUDA's that has one of these. */
static const char known[][24] = {
	"cuInit", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoD_v2", "cuLaunchKernel", "cuStreamSynchronize", "cuGetProcAddress",
	"cudaMalloc", "cudaFree", "cudaMemcpy", "cudaMemcpyAsync", "cudaLaunchKernel", "cudaStreamSynchronize",
};

/* These store a function's address where their second argument says. */
static const char gives[GIVES][40] = {
	"cuGetProcAddress", "cuGetProcAddress_v2", "cudaGetDriverEntryPoint", "cudaGetDriverEntryPoint_ptsz",
	"cudaGetDriverEntryPointByVersion", "cudaGetDriverEntryPointByVersion_ptsz",
};

struct binding {
	struct injected *a;
	const struct link_map *map;
	struct object o;
	__u64 from, to;		/* the symbols to change */
	__u32 functions;
	bool change;
};

static bool is_cuda(const struct object *o, const char *path)
{
	static const char prefix[] = "libcuda";
	const char *base = path;

	for (; *path; path++)
		if (*path == '/')
			base = path + 1;
	if (!memcmp(base, prefix, length(base) < sizeof(prefix) - 1 ? length(base) + 1 : sizeof(prefix) - 1))
		return true;
	for (unsigned i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (object_symbol(o, known[i], object_hash(known[i]), NULL))
			return true;
	return false;
}

static void change(struct binding *b, const ElfW(Sym) *s, __u32 function, bool gives_address)
{
	__u64 at = b->o.base + s->st_value;
	const void *stub = stub_is(at) ? NULL : stub_make(b->a, function, at, (__u64)b->map, gives_address);

	if (stub)
		*(volatile ElfW(Addr) *)&s->st_value = (__u64)stub - b->o.base;
}

/* A name may have several definitions: one for each version. */
static void function_bind(struct binding *b, const char *name, __u32 hash, __u32 function, bool gives_address)
{
	const ElfW(Sym) *s = NULL;

	while ((s = object_symbol(&b->o, name, hash, s))) {
		if (b->change) {
			change(b, s, function, gives_address);
			continue;
		}
		if (!b->to || (__u64)s < b->from)
			b->from = (__u64)s;
		if ((__u64)(s + 1) > b->to)
			b->to = (__u64)(s + 1);
		b->functions += function != NO_FUNCTION;
	}
}

static void all_bind(struct binding *b)
{
	const struct shmmap *m = &b->a->shm;

	for (__u32 i = 0; i < m->functions; i++)
		function_bind(b, m->names + m->function[i].name, b->a->hash[i], i, false);
	for (int i = 0; i < GIVES; i++)
		function_bind(b, gives[i], object_hash(gives[i]), NO_FUNCTION, true);
}

static bool protect(struct binding *b, long prot)
{
	__u64 from = b->from & -(__u64)PAGE, to = (b->to + PAGE - 1) & -(__u64)PAGE;

	return !sys3(__NR_mprotect, (long)from, (long)(to - from), prot);
}

/* The symbols stay executable if they are: other code may stand in the same page. */
static void symbols_change(struct binding *b)
{
	const ElfW(Phdr) *segment = object_segment(&b->o, b->from);
	long prot;

	if (!segment)
		return connect_says(b->a, b->map->l_name, "cannot find its symbol table's segment");
	prot = (segment->p_flags & PF_R ? PROT_READ : 0) | (segment->p_flags & PF_W ? PROT_WRITE : 0) |
	       (segment->p_flags & PF_X ? PROT_EXEC : 0);
	if (!(prot & PROT_WRITE) && !protect(b, prot | PROT_WRITE))
		return connect_says(b->a, b->map->l_name, "cannot change its symbol table in memory");
	b->change = true;
	all_bind(b);
	if (!(prot & PROT_WRITE))
		protect(b, prot);
}

static const char *path_of(struct injected *a, const struct link_map *map)
{
	long n;

	if (*map->l_name)
		return map->l_name;
	n = sys4(__NR_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)a->text, sizeof(a->text) - 1);
	a->text[n > 0 ? n : 0] = 0;
	return a->text;
}

/* The system calls by which the tool is asked may end a program that has put itself under a filter. */
static bool first_hello(struct injected *a)
{
	if (environment_filters(a->text) <= a->filters)
		return connect_hello(a);
	a->connection = REFUSED;
	return false;
}

void bind_object(struct injected *a, const struct link_map *map)
{
	struct binding b = { .a = a, .map = map };
	bool first = a->connection == UNCONNECTED;

	if (!object_map(&b.o, map, *map->l_name ? NULL : a->phdr, *map->l_name ? 0 : a->phdrs))
		return;
	if (first && (!is_cuda(&b.o, map->l_name) || !first_hello(a)))
		return;
	all_bind(&b);
	if (!b.to)
		return;
	if (a->settled && b.functions)
		connect_bound(a, path_of(a, map), b.functions);
	symbols_change(&b);
}
