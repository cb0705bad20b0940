/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/escape.h"
#include "sym/kernels.h"
#include "cudatrace/trace_sticky.h"

enum { NAMED = 8 };	/* kernels named in text */

static unsigned long long launches(const struct sticky_error *c)
{
	unsigned long long n = c->others;

	for (int i = 0; i < c->n; i++)
		n += c->launched[i].count;
	return n;
}

void trace_sticky_text(FILE *f, const struct sticky_error *c)
{
	unsigned long long n = launches(c);

	if (c->again) {
		fputs(" [caused by earlier work: already reported]", f);
		return;
	}
	fputs(" [caused by earlier work", f);
	if (n)
		fprintf(f, ": %llu launch%s since the last wait: ", n, n == 1 ? "" : "es");
	for (int i = 0; i < c->n && i < NAMED; i++) {
		const struct sticky_launch *l = &c->launched[i];

		if (i)
			fputs(", ", f);
		if (l->kernel)
			escape_text(f, l->kernel->brief);
		else
			fprintf(f, "0x%llx", l->func);
		if (l->count > 1)
			fprintf(f, " x%llu", l->count);
	}
	fputs(c->n > NAMED || c->others ? ", ...]" : "]", f);
}

void trace_sticky_json(FILE *f, const struct sticky_error *c)
{
	if (!c) {
		fputs("null", f);
		return;
	}
	putc('[', f);
	for (int i = 0; i < c->n; i++) {
		const struct sticky_launch *l = &c->launched[i];

		if (i)
			putc(',', f);
		if (l->kernel)
			escape_json(f, l->kernel->brief);
		else
			fprintf(f, "\"0x%llx\"", l->func);
	}
	putc(']', f);
}
