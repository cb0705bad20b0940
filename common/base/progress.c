/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdarg.h>
#include <stdio.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/progress.h"

static const unsigned long long FIRST_NS = 1000000000ull, NEXT_NS = 5 * 1000000000ull;

void progress_begin(struct progress *p)
{
	if (!p)
		return;
	p->began = clock_ns();
	*p->text = '\0';
}

void progress_set(struct progress *p, const char *fmt, ...)
{
	va_list ap;

	if (!p)
		return;
	va_start(ap, fmt);
	vsnprintf(p->text, sizeof(p->text), fmt, ap);
	va_end(ap);
}

/* p->next outlives progress_begin(), so that many slow works do not print more than one. */
void progress_tick(struct progress *p)
{
	unsigned long long now = clock_ns();

	if (!p || p->hidden || !p->began || !*p->text || now < p->began + FIRST_NS || now < p->next)
		return;
	p->next = now + NEXT_NS;
	note("%s", p->text);
}
