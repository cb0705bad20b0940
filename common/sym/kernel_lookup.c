/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "proc/vm_read.h"
#include "sym/kernel_lookup.h"
#include "sym/kernels.h"
#include "sym/syms.h"

enum { BATCH = 512 };

struct handles {		/* variables to read, in batches */
	struct kernel_lookup *lookup;
	int pid;
	struct kernels *kernels;
	struct iovec at[BATCH];
	const char *names[BATCH];
	int n;
};

/* The name of a kernel stub's variable, "_ZZ25__device_stub__Z5scalePfiPfiE8__handle", contains the
 * kernel's symbol: 25 characters from __device_stub_ on, which without it are "_Z5scalePfi". */
static void name_by_variable(const struct handles *h, unsigned long long handle,
			     const char *variable)
{
	static const char prefix[] = "__device_stub_";
	const char *at = strstr(variable, prefix), *digit = at;
	size_t skip = sizeof(prefix) - 1, len;
	char *symbol;

	while (digit && digit > variable && digit[-1] >= '0' && digit[-1] <= '9')
		digit--;
	len = at ? strtoul(digit, NULL, 10) : 0;
	if (len <= skip || len > strlen(at) || !handle || kernels_find(h->kernels, handle))
		return;
	symbol = xprintf("%.*s", (int)(len - skip), at + skip);
	kernels_name(h->kernels, handle,
		     kernel_named(h->lookup->names, kernels_user(h->kernels), h->pid, symbol));
	free(symbol);
}

static void read_handles(struct handles *h)
{
	unsigned long long values[BATCH] = { 0 };
	ssize_t n;

	for (int from = 0, count; from < h->n; from += count) {
		count = h->n - from;
		/* stops at the first variable that cannot be read */
		n = vm_read(&h->lookup->reader, h->pid, h->at + from, count, values, count * sizeof(*values));
		n = n < 0 ? 0 : n / (ssize_t)sizeof(*values);
		for (int i = 0; i < n; i++)
			name_by_variable(h, values[i], h->names[from + i]);
		count = n < count ? n + 1 : n;
	}
	h->n = 0;
}

static void on_variable(void *ctx, const char *name, unsigned long long addr)
{
	struct handles *h = ctx;

	h->at[h->n] = (struct iovec){ (void *)(unsigned long)addr, 8 };
	h->names[h->n++] = name;
	if (h->n == BATCH)
		read_handles(h);
}

void kernel_lookup_handles(struct kernel_lookup *l, int pid, struct kernels *k)
{
	struct handles h = { .lookup = l, .pid = pid, .kernels = k };

	syms_variables(l->syms, pid, "E8__handle", on_variable, &h);
	read_handles(&h);
}

void kernel_lookup(struct kernel_lookup *l, int pid, struct kernels *k,
		   unsigned long long addr)
{
	unsigned long long stub = kernels_original(k, addr);
	const char *symbol = syms_function(l->syms, pid, stub);

	if (symbol)
		kernels_name(k, stub, kernel_named(l->names, kernels_user(k), pid, symbol));
	else
		kernel_lookup_handles(l, pid, k);
}

bool kernels_read_string(struct vm_reader *reader, int pid, unsigned long long at, char *text,
			 int size)
{
	int got = 0;

	while (got < size - 1) {	/* by pages: the next one may be missing */
		int want = 4096 - (at + got) % 4096;
		struct iovec there;
		ssize_t n;

		want = want < size - 1 - got ? want : size - 1 - got;
		there = (struct iovec){ (void *)(unsigned long)(at + got), want };
		n = vm_read(reader, pid, &there, 1, text + got, want);
		if (n <= 0)
			return false;
		if (memchr(text + got, 0, n))
			return *text;
		got += n;
	}
	text[got] = 0;
	return got > 0;
}
