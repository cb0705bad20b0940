/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/clock.h"
#include "base/die.h"
#include "probe/pending.h"

void pending_add(struct pending *p, int pid)
{
	int i = 0;

	while (i < p->n && p->processes[i].pid != pid)
		i++;
	if (i == p->n) {
		p->processes = xrealloc(p->processes, ++p->n, sizeof(*p->processes));
		p->processes[i] = (struct pending_process){ .pid = pid };
	}
	p->processes[i].waits = true;
}

void pending_handle(struct pending *p, void (*look)(void *ctx, int pid), void *ctx)
{
	unsigned long long now = clock_ns();
	int kept = 0;

	for (int i = 0; i < p->n; i++) {
		struct pending_process *one = &p->processes[i];

		if (one->waits && now >= one->next) {
			look(ctx, one->pid);
			one->waits = false;
			one->next = clock_ns() + 4 * (clock_ns() - now);
			now = clock_ns();
		}
		if (one->waits || now < one->next)
			p->processes[kept++] = *one;
	}
	p->n = kept;
}

void pending_free(struct pending *p)
{
	free(p->processes);
	*p = (struct pending){ 0 };
}
