/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which stub stands for which function. */
#include <stddef.h>
#include "inject/inject.h"

/* A function whose prototype the tool does not know gets so many words of what its caller has on the stack.  A struct
 * cudaEglFrame by value is 35 of them. */
enum { WORDS_GUESS = 24, WORDS_MAX = 64 };

_Static_assert(sizeof(struct stub) == STUB_SIZE && !offsetof(struct injected, stub) && offsetof(struct stub, real) == STUB_REAL &&
	       offsetof(struct stub, flags) == STUB_FLAGS && STUB_OFF == INJECT_OFF, "inject/stub.h");

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
static __u32 number_of(const struct injected *a, __u64 real)
{
	__u16 n;

	for (__u32 i = slot(real); (n = __atomic_load_n(&a->address[i], __ATOMIC_ACQUIRE)); i = (i + 1) % ADDRESSES)
		if (a->stub[n - 1].real == real)
			return n - 1;
	return STUBS;
}

const void *stub_of(const struct injected *a, __u64 real)
{
	__u32 n = number_of(a, real);

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

/* What gives addresses always runs. */
static const __u32 always;

static void flags_set(struct stub *s)
{
	s->flags = s->in && !s->gives ? &injected.toggle[s->function].flags : &always;
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
	a->stub[n] = *s;
	flags_set(&a->stub[n]);
	if (i < ADDRESSES)
		__atomic_store_n(&a->address[i], (__u16)(n + 1), __ATOMIC_RELEASE);
	return code(n);
}

/* Another name of a function that has a stub: where functions are the same code, they need not take the same arguments. */
static const void *also(struct injected *a, __u32 n, const struct stub *s)
{
	struct stub *is = &a->stub[n];

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

const void *stub_make(struct injected *a, __u32 function, __u64 real, __u64 object, bool gives)
{
	struct stub s = { .real = real, .object = object, .function = function, .gives = gives };
	__u32 n = number_of(a, real);

	if (function != NO_FUNCTION) {
		s.in = &a->shm.function[function];
		s.id = s.in->id;
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
