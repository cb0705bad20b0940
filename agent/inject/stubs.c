/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Gives the functions of a library stubs, in its symbol table: nothing is bound to it yet. */
#include <stddef.h>
#include <linux/fcntl.h>
#include <linux/mman.h>
#include "abi/watch_event.h"
#include "agent/inject/inject.h"
#include "machine/regs_user.h"
#include "machine/stub_frame.h"

/* A function of unknown prototype gets a copy of so many words of its caller's stack.  A struct cudaEglFrame by value is 35 of
 * them. */
enum { WORDS_GUESS = 24, WORDS_MAX = 64 };

_Static_assert(sizeof(struct stub) == STUB_SIZE && !offsetof(struct injected, stub) && offsetof(struct stub, real) == STUB_REAL &&
	       offsetof(struct stub, flags) == STUB_FLAGS && STUB_OFF == INJECT_OFF, "agent/inject/stub.h");

extern const char inject_stubs[] __attribute__((visibility("hidden")));

bool stub_is(__u64 at)
{
	return at - (__u64)inject_stubs < STUBS * STUB_BYTES;
}

static __u32 slot(__u64 real)
{
	return (__u32)(real * 0x9e3779b97f4a7c15ULL >> 40) % ADDRESSES;
}

static const void *code(__u32 number)
{
	return inject_stubs + number * STUB_BYTES;
}

/* A slot is filled once, after its stub; the table is never full. */
static __u32 stubs_number_of(const struct injected *a, __u64 real)
{
	__u16 n;

	for (__u32 i = slot(real); (n = __atomic_load_n(&a->address[i], __ATOMIC_ACQUIRE)); i = (i + 1) % ADDRESSES)
		if (a->stub[n - 1].real == real)
			return n - 1;
	return STUBS;
}

const void *stub_of(const struct injected *a, __u64 real)
{
	__u32 n = stubs_number_of(a, real);

	return n < STUBS && !a->stub[n].closed ? code(n) : NULL;
}

static bool words_set(struct injected *a, struct stub *s)
{
	__u32 stack = s->in ? s->in->flags >> INJECT_STACK_SHIFT & INJECT_STACK_MASK : 1;

	s->unsure = !stack;
	s->words = (__u16)(stack ? stack - 1 : WORDS_GUESS);
	if (s->words <= WORDS_MAX)
		return true;
	connect_says(a, a->shm.names + s->in->name, "has too many arguments on the stack");
	return false;
}

/* Stubs of functions that store addresses are never off. */
static const __u32 always;

static void flags_set(struct stub *s)
{
	if (injected.idle && !s->gives)
		s->flags = injected.idle;
	else
		s->flags = s->in && !s->gives ? &injected.toggle[s->function].flags : &always;
}

/* Later names of one that has many are not known. */
static void name_add(struct injected *a, __u32 n, __u32 function, bool first)
{
	int i = 0;

	if (!a->named || function == NO_FUNCTION)
		return;
	while (!first && i < STUB_NAMES && a->named[n][i] && a->named[n][i] != function + 1)
		i++;
	if (i < STUB_NAMES)
		a->named[n][i] = (__u16)(function + 1);
	for (i++; first && i < STUB_NAMES; i++)
		a->named[n][i] = 0;
}

static const void *fill(struct injected *a, __u32 n, const struct stub *s)
{
	__u32 i = slot(s->real);

	if (!a->stub[n].real) {
		while (a->address[i])
			i = (i + 1) % ADDRESSES;
	} else {
		i = ADDRESSES;
	}
	name_add(a, n, s->function, true);
	a->stub[n] = *s;
	flags_set(&a->stub[n]);
	if (i < ADDRESSES)
		__atomic_store_n(&a->address[i], (__u16)(n + 1), __ATOMIC_RELEASE);
	return code(n);
}

/* Another name of a function that has a stub: functions with the same code may take different arguments. */
static const void *also(struct injected *a, __u32 n, const struct stub *s)
{
	struct stub *is = &a->stub[n];

	name_add(a, n, s->function, false);
	is->gives |= s->gives;
	is->unsure |= s->unsure;
	if (s->words > is->words)
		is->words = s->words;
	if (is->function == NO_FUNCTION && s->in) {
		is->in = s->in;
		is->id = s->id;
		is->function = s->function;
	}
	flags_set(is);
	return code(n);
}

/* COOKIE_DRIVER of an object, which most often has the last stub, too.  Its number is for the driver's files, but any may have one. */
static __u32 driver_bits(struct injected *a, __u64 object)
{
	for (__u32 i = a->stubs; i--;)
		if (a->stub[i].object == object && a->stub[i].id & COOKIE_DRIVER)
			return a->stub[i].id & COOKIE_DRIVER;
	return cookie_of_driver(a->objects++);
}

const void *stub_make(struct injected *a, __u32 function, __u64 real, __u64 object, bool gives)
{
	struct stub s = { .real = real, .object = object, .function = function, .gives = gives };
	__u32 n = stubs_number_of(a, real);

	if (function != NO_FUNCTION) {
		s.in = &a->shm.function[function];
		s.id = s.in->id | driver_bits(a, object);
	}
	if (!words_set(a, &s))
		return NULL;
	if (n < STUBS && !a->stub[n].closed)
		return also(a, n, &s);
	if (n < STUBS)		/* the library is back where it was */
		return fill(a, n, &s);
	if (a->stubs == STUBS) {
		connect_says(a, function == NO_FUNCTION ? "" : a->shm.names + s.in->name, "no stub is left");
		return NULL;
	}
	return fill(a, a->stubs++, &s);
}

void stubs_close(struct injected *a, __u64 object)
{
	for (__u32 i = 0; i < a->stubs; i++)
		if (a->stub[i].object == object)
			a->stub[i].closed = 1;
}

void stub_follow(struct injected *a, __u32 number, __u32 function, const struct stub *like)
{
	const struct inject_function *in = &a->shm.function[function];
	struct stub s = {
		.real = like->real, .object = like->object, .in = in, .id = in->id | (like->id & COOKIE_DRIVER), .function = function,
	};

	if (!words_set(a, &s))
		return;
	flags_set(&s);
	a->stub[number] = s;
}

void stub_address_given(const struct injected *a, const struct stub_frame *f)
{
	__u64 *given = (__u64 *)PT_REGS_PARM2(&f->regs);
	const void *stub = !(__u32)PT_REGS_RC(&f->regs) && given && *given ? stub_of(a, *given) : NULL;

	if (stub)
		*given = (__u64)stub;
}

__u32 function_find(const struct injected *a, const char *name)
{
	const struct shmmap *m = &a->shm;
	__u32 from = 0, to = m->functions;

	while (from < to) {
		__u32 i = from + (to - from) / 2;
		const char *p = m->names + m->function[i].name, *q = name;

		while (*p && *p == *q)
			p++, q++;
		if (*p == *q)
			return i;
		if ((unsigned char)*p < (unsigned char)*q)
			from = i + 1;
		else
			to = i;
	}
	return NO_FUNCTION;
}

/* ---- a library's functions */

enum { GIVES = 6 };

/* Before the tool has sent its list of functions, a library with one of these is CUDA's, NCCL or NVRTC. */
static const char known[][24] = {
	"cuInit", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemcpyHtoD_v2", "cuLaunchKernel", "cuStreamSynchronize", "cuGetProcAddress",
	"cudaMalloc", "cudaFree", "cudaMemcpy", "cudaMemcpyAsync", "cudaLaunchKernel", "cudaStreamSynchronize",
	"ncclAllReduce", "nvrtcCompileProgram",
};

/* These store a function's address at their second argument. */
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
	__u32 runtime;		/* object_runtime() */
	bool change;
};

static __u32 stubs_number(const char *digits)
{
	__u32 n = 0;

	for (; *digits >= '0' && *digits <= '9' && n < 1000; digits++)
		n = n * 10 + (__u32)(*digits - '0');
	return n;
}

static bool is_cuda(const struct object *o, const char *path)
{
	static const char prefixes[][8] = { "libcuda", "libnccl" };
	const char *base = path;

	for (; *path; path++)
		if (*path == '/')
			base = path + 1;
	for (int i = 0; i < 2; i++)
		if (length(base) >= 7 && !memcmp(base, prefixes[i], 7))
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

/* Return true if the next function is the form of this one that this object's runtime has: up to NAME@12's. */
static bool has_form(const struct binding *b, __u32 function)
{
	const struct shmmap *m = &b->a->shm;
	const char *p = m->names + m->function[function].name, *q;

	if (!b->runtime || function + 1 >= m->functions)
		return false;
	for (q = m->names + m->function[function + 1].name; *p && *p == *q; p++, q++)
		;
	return !*p && *q == '@' && b->runtime <= stubs_number(q + 1);
}

static void all_bind(struct binding *b)
{
	const struct shmmap *m = &b->a->shm;

	for (__u32 i = 0; i < m->functions; i++)
		function_bind(b, m->names + m->function[i].name, b->a->hash[i], i + has_form(b, i), false);
	for (int i = 0; i < GIVES; i++)
		function_bind(b, gives[i], object_hash(gives[i]), NO_FUNCTION, true);
}

static bool protect(struct binding *b, long prot)
{
	const __u64 page = b->a->page_size;
	__u64 from = b->from & -page, to = (b->to + page - 1) & -page;

	return !sys3(__NR_mprotect, (long)from, (long)(to - from), prot);
}

/* The symbols stay executable if they are: the page may have code. */
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
	n = sys4(__NR_readlinkat, AT_FDCWD, (long)"/proc/thread-self/exe", (long)a->text,
		 sizeof(a->text) - 1);
	a->text[n > 0 ? n : 0] = 0;
	return a->text;
}

/* The system calls for it may end a program under a seccomp filter of its own. */
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
	b.runtime = object_runtime(&b.o);
	all_bind(&b);
	if (!b.to)
		return;
	if (a->settled && b.functions)
		connect_bound(a, path_of(a, map), b.functions);
	symbols_change(&b);
}
