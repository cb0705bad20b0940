/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include "base/die.h"
#include "base/hash.h"
#include "base/quota.h"
#include "sym/demangle.h"
#include "kernels/kernel_name.h"
#include "kernels/short_name.h"

/* Keyed by full name, so that "_ZL5scalePf" on the host and "_Z5scalePf" on the device are one. */
struct known_kernel {
	struct kernel kernel;	/* first */
	struct kernel_names *names;
	struct known_brief *brief;
	struct known_symbol *symbols;
	unsigned long holds;
	TAILQ_ENTRY(known_kernel) unheld;
	UT_hash_handle hh;
};

struct known_brief {
	char *text;
	char short_name[SHORT_NAME_SIZE];
	unsigned long users;
	UT_hash_handle hh, in_short;
};

struct known_symbol {
	char *name;
	struct known_kernel *kernel;
	struct known_symbol *next;	/* of the same kernel */
	unsigned user;
	size_t cost;
	UT_hash_handle hh;
};

struct kernel_names {
	struct demangler demangler;
	struct known_kernel *kernels;
	struct known_brief *briefs;
	struct known_brief *by_short;	/* the same by short name, if no other one had it first */
	struct known_symbol *symbols;
	TAILQ_HEAD(, known_kernel) unheld;	/* the longest first */
	int nunheld;
	struct quota quota;	/* in bytes */
};

/* A symbol's entries on the heap, without its texts. */
enum { SYMBOL_COST = sizeof(struct known_symbol) + sizeof(struct known_kernel) +
		     sizeof(struct known_brief) + 128 };

struct kernel_names *kernel_names_new(void)
{
	struct kernel_names *names = xcalloc(1, sizeof(*names));

	names->quota = (struct quota){
		.limit = 32 << 20, .what = "kernel names",
		.loss = "further kernels are shown as addresses",
	};
	TAILQ_INIT(&names->unheld);
	return names;
}

static void free_symbols(struct kernel_names *names, struct known_kernel *k)
{
	struct known_symbol *s;

	while ((s = k->symbols)) {
		k->symbols = s->next;
		HASH_DEL(names->symbols, s);
		quota_give(&names->quota, s->user, s->cost);
		free(s->name);
		free(s);
	}
}

static void drop_brief(struct kernel_names *names, struct known_brief *b)
{
	if (--b->users)
		return;
	HASH_DEL(names->briefs, b);
	if (b->in_short.tbl)
		HASH_DELETE(in_short, names->by_short, b);
	free(b->text);
	free(b);
}

static void free_kernel(struct kernel_names *names, struct known_kernel *k)
{
	if (!k->holds) {
		TAILQ_REMOVE(&names->unheld, k, unheld);
		names->nunheld--;
	}
	free_symbols(names, k);
	drop_brief(names, k->brief);
	HASH_DEL(names->kernels, k);
	free((char *)k->kernel.full);
	free(k);
}

void kernel_names_free(struct kernel_names *names)
{
	while (names->kernels)
		free_kernel(names, names->kernels);
	quota_free(&names->quota);
	free(names);
}

static void add_unheld(struct kernel_names *names, struct known_kernel *k)
{
	TAILQ_INSERT_TAIL(&names->unheld, k, unheld);
	if (++names->nunheld > KERNEL_NAMES_UNHELD)
		free_kernel(names, TAILQ_FIRST(&names->unheld));
}

const struct kernel *kernel_get(const struct kernel *kernel)
{
	struct known_kernel *k = (struct known_kernel *)kernel;

	if (k && !k->holds++) {
		TAILQ_REMOVE(&k->names->unheld, k, unheld);
		k->names->nunheld--;
	}
	return kernel;
}

void kernel_put(const struct kernel *kernel)
{
	struct known_kernel *k = (struct known_kernel *)kernel;

	if (k && !--k->holds)
		add_unheld(k->names, k);
}

/* clang names its stubs __device_stub__ followed by the kernel's name. */
static char *without_stub(const char *text)
{
	static const char prefix[] = "__device_stub__";
	char *s = xstrdup(text), *at = strstr(s, prefix);

	if (at && at[sizeof(prefix) - 1])
		memmove(at, at + sizeof(prefix) - 1, strlen(at + sizeof(prefix) - 1) + 1);
	return s;
}

static struct known_brief *find_short(const struct kernel_names *names, const char *short_name)
{
	struct known_brief *b;

	HASH_FIND(in_short, names->by_short, short_name, strlen(short_name), b);
	return b;
}

/* A short name that another kernel has gets more digits: rare, because short names are made to differ. */
static void set_short(struct kernel_names *names, struct known_brief *b)
{
	short_name(b->short_name, b->text);
	if (find_short(names, b->short_name))
		short_name_apart(b->short_name, b->text);
	if (!find_short(names, b->short_name))
		HASH_ADD_KEYPTR(in_short, names->by_short, b->short_name, strlen(b->short_name), b);
}

/* Frees text or keeps it. */
static struct known_brief *brief_of(struct kernel_names *names, char *text)
{
	struct known_brief *b;

	HASH_FIND_STR(names->briefs, text, b);
	if (b) {
		free(text);
		b->users++;
		return b;
	}
	b = xcalloc(1, sizeof(*b));
	b->text = text;
	b->users = 1;
	HASH_ADD_KEYPTR(hh, names->briefs, b->text, strlen(text), b);
	set_short(names, b);
	return b;
}

/* Frees the texts or keeps them. */
static struct known_kernel *kernel_of(struct kernel_names *names, char *full, char *brief)
{
	struct known_kernel *k;

	HASH_FIND_STR(names->kernels, full, k);
	if (k) {
		free(full);
		free(brief);
		return k;
	}
	k = xcalloc(1, sizeof(*k));
	k->names = names;
	k->kernel.full = full;
	k->brief = brief_of(names, brief);
	k->kernel.brief = k->brief->text;
	k->kernel.short_name = k->brief->short_name;
	HASH_ADD_KEYPTR(hh, names->kernels, k->kernel.full, strlen(full), k);
	add_unheld(names, k);
	return k;
}

static const struct kernel *kernel_name_add(struct kernel_names *names, unsigned user, const char *symbol,
				size_t cost, char *full, char *brief)
{
	struct known_symbol *s = xcalloc(1, sizeof(*s));

	s->name = xstrdup(symbol);
	s->user = user;
	s->cost = cost + strlen(full) + strlen(brief);
	s->kernel = kernel_of(names, full, brief);
	s->next = s->kernel->symbols;
	s->kernel->symbols = s;
	HASH_ADD_KEYPTR(hh, names->symbols, s->name, strlen(symbol), s);
	return &s->kernel->kernel;
}

const char *kernel_called(const struct kernel *k, enum kernel_style style)
{
	return style == KERNEL_FULL ? k->full : style == KERNEL_SHORT ? k->short_name : k->brief;
}

/* Takes bytes from the user's share; if need be, names without a reference make room. */
static bool kernel_name_take(struct kernel_names *names, unsigned user, int pid, size_t n)
{
	while (!quota_fits(&names->quota, user, n) && names->nunheld)
		free_kernel(names, TAILQ_FIRST(&names->unheld));
	return quota_take(&names->quota, user, pid, n);
}

const struct kernel *kernel_named(struct kernel_names *names, unsigned user, int pid,
				  const char *symbol)
{
	size_t len = strlen(symbol), cost = SYMBOL_COST + len;
	char *full, *brief;
	struct known_symbol *s;

	HASH_FIND_STR(names->symbols, symbol, s);
	if (s)
		return &s->kernel->kernel;
	/* first this, as demangling takes time */
	if (!kernel_name_take(names, user, pid, cost))
		return NULL;
	full = without_stub(demangle(&names->demangler, symbol));
	brief = without_stub(demangle_brief(&names->demangler, symbol));
	if (kernel_name_take(names, user, pid, strlen(full) + strlen(brief)))
		return kernel_name_add(names, user, symbol, cost, full, brief);
	quota_give(&names->quota, user, cost);
	free(full);
	free(brief);
	return NULL;
}

/* Kernels by the variables in which nvcc's stubs keep their handles. */

enum { MAX_PARTS = 32 };

static const char prefix[] = "__device_stub_";

/* A kernel stub's variable, "_ZZ25__device_stub__Z5scalePfiPfiE8__handle", contains the kernel's symbol: 25
 * characters from __device_stub_ on, which without it are "_Z5scalePfi". */
static char *symbol_of(const char *variable)
{
	const char *at = strstr(variable, prefix), *digit = at;
	size_t skip = sizeof(prefix) - 1, len;

	while (digit && digit > variable && digit[-1] >= '0' && digit[-1] <= '9')
		digit--;
	len = at ? strtoul(digit, NULL, 10) : 0;
	if (len <= skip || len > strlen(at))
		return NULL;
	return xprintf("%.*s", (int)(len - skip), at + skip);
}

/* Appends one part of a name, "6native", and moves *at beyond it; false if there is none. */
static bool take_part(const char **at, char **name)
{
	size_t len = strtoul(*at, (char **)at, 10);
	char *longer;

	if (!len || len > strlen(*at))
		return false;
	longer = strncmp(*at, "_GLOBAL__N", 10) ? xprintf("%s%s%.*s", *name, **name ? "::" : "", (int)len, *at) :
		 xprintf("%s%s(anonymous namespace)", *name, **name ? "::" : "");
	free(*name);
	*name = longer;
	*at += len;
	return true;
}

/* "at::native::reduce_kernel" of "_ZN2at6native13reduce_kernelI..." */
static char *plain_name(const char *symbol)
{
	const char *at = symbol + strcspn(symbol, "0123456789");
	char *name = xstrdup("");

	for (int n = 0; n < MAX_PARTS && *at >= '0' && *at <= '9' && take_part(&at, &name); n++)
		;
	return name;
}

/* The parameters in "__device_stub__...(PARAMETERS)::__handle", with their parentheses; *len. */
static const char *parameters(const char *text, size_t *len)
{
	const char *open = strchr(text, '('), *end = strstr(text, "::__handle");

	*len = open && end && end > open ? (size_t)(end - open) : 0;
	return open;
}

char *kernel_of_handle(struct demangler *d, const char *variable)
{
	char *symbol = symbol_of(variable), *name, *written;
	const char *params;
	size_t len;

	if (!symbol || !strstr(symbol, "Unvhdl"))
		return symbol;
	params = parameters(demangle(d, variable), &len);
	name = plain_name(symbol);
	written = *name && len ? xprintf("%s%.*s", name, (int)len, params) : NULL;
	free(name);
	if (!written)
		return symbol;
	free(symbol);
	return written;
}
