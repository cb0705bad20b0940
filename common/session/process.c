/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/die.h"
#include "session/process.h"

struct process_part {
	void (*fn)(void *ctx, const struct process_event *event);
	void *ctx;
};

void process_on_end(struct process_ends *ends, void (*fn)(void *ctx, const struct process_event *event), void *ctx)
{
	ends->parts = xrealloc(ends->parts, ends->n + 1, sizeof(*ends->parts));
	ends->parts[ends->n++] = (struct process_part){ fn, ctx };
}

void process_ended(const struct process_ends *ends, const struct process_event *event)
{
	for (int i = 0; i < ends->n; i++)
		ends->parts[i].fn(ends->parts[i].ctx, event);
}

void process_ends_free(struct process_ends *ends)
{
	free(ends->parts);
	*ends = (struct process_ends){ 0 };
}
