/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "sym/demangle.h"
#include "base/hash.h"
#include "sym/kernels.h"
#include "proc/vm_read.h"

/* By its full name, so that "_ZL5scalePf" of the host and "_Z5scalePf" of the device are one. */
struct known {
	struct kernel kernel;
	UT_hash_handle hh;
};

struct text {
	char *text;
	UT_hash_handle hh;
};

struct symbol {
	char *name;
	const struct kernel *kernel;
	UT_hash_handle hh;
};

/* Bytes; programs that name more kernels are not believed. */
static const size_t MAX_NAMES = 256ull << 20;

static struct known *known;
static struct text *briefs;
static struct symbol *symbols;
static size_t names;

/* clang's stubs are named __device_stub__ and the kernel's name. */
static char *without_stub(const char *text)
{
	static const char prefix[] = "__device_stub__";
	char *s = xstrdup(text), *at = strstr(s, prefix);

	if (at && at[sizeof(prefix) - 1])
		memmove(at, at + sizeof(prefix) - 1, strlen(at + sizeof(prefix) - 1) + 1);
	return s;
}

static const char *brief_of(const char *symbol)
{
	char *text = without_stub(demangle_brief(symbol));
	struct text *t;

	HASH_FIND_STR(briefs, text, t);
	if (t) {
		free(text);
		return t->text;
	}
	t = xcalloc(1, sizeof(*t));
	t->text = text;
	HASH_ADD_KEYPTR(hh, briefs, t->text, strlen(text), t);
	return t->text;
}

static const struct kernel *kernel_of(const char *symbol)
{
	char *full = without_stub(demangle(symbol));
	struct known *k;

	HASH_FIND_STR(known, full, k);
	if (k) {
		free(full);
		return &k->kernel;
	}
	k = xcalloc(1, sizeof(*k));
	k->kernel.full = full;
	k->kernel.brief = brief_of(symbol);
	HASH_ADD_KEYPTR(hh, known, k->kernel.full, strlen(full), k);
	return &k->kernel;
}

const struct kernel *kernel_named(const char *symbol)
{
	struct symbol *s;

	HASH_FIND_STR(symbols, symbol, s);
	if (s)
		return s->kernel;
	if (names > MAX_NAMES)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->name = xstrdup(symbol);
	s->kernel = kernel_of(symbol);
	names += sizeof(*s) + strlen(symbol) + strlen(s->kernel->full) + strlen(s->kernel->brief);
	HASH_ADD_KEYPTR(hh, symbols, s->name, strlen(symbol), s);
	return s->kernel;
}

struct vm_reader kernels_reader;

bool kernels_read_string(int pid, unsigned long long at, char *text, int size)
{
	int got = 0;

	while (got < size - 1) {	/* by pages: the next one may not be there */
		int want = 4096 - (at + got) % 4096;
		struct iovec there;
		ssize_t n;

		want = want < size - 1 - got ? want : size - 1 - got;
		there = (struct iovec){ (void *)(unsigned long)(at + got), want };
		n = vm_read(&kernels_reader, pid, &there, 1, text + got, want);
		if (n <= 0)
			return false;
		if (memchr(text + got, 0, n))
			return *text;
		got += n;
	}
	text[got] = 0;
	return got > 0;
}
