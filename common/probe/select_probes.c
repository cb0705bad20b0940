/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "elf/elf.h"
#include "probe/select_probes.h"
#include "probe/probe_source.h"
#include "probe/probes.h"

static int toggle_last(const void *a, const void *b)
{
	const struct elf_probe *p = a, *q = b;

	if (p->toggle != q->toggle)
		return p->toggle - q->toggle;
	return p->late != q->late ? p->late - q->late : p->id - q->id;
}

void report_skipped(const struct probes *p, const char *path, const char *why)
{
	if (p->on_skipped)
		p->on_skipped(p->session, path, why);
}

void select_probes(const struct probes *p, const char *path, struct elf_scan *scan)
{
	int kept = 0;

	for (int i = 0; i < scan->n; i++) {
		struct elf_probe *at = &scan->probes[i];
		struct function fn = p->source->get(p, at->id);
		bool skipped = p->layer != CUDA_LIB_MAX && p->layer != (int)fn.lib && !at->usdt;

		if (!fn.wanted)
			continue;
		if (p->on_dso)	/* other programs probe a function at its start */
			at->offset = at->symbol;
		if (p->on_probe)
			p->on_probe(p->session, path, &fn, at, skipped ? "--layer" : NULL);
		if (skipped)
			continue;
		at->returns = fn.returns;
		at->late = fn.late;
		at->toggle = fn.toggle;
		scan->probes[kept++] = *at;
	}
	if (scan->error)
		report_skipped(p, path, scan->error);
	else if (!scan->n && scan->fatbin)
		report_skipped(p, path, "has kernels but no symbols: its calls are traced in the driver");
	else if (!scan->n)
		report_skipped(p, path, "defines no CUDA functions");
	scan->n = kept;
	if (kept)
		qsort(scan->probes, kept, sizeof(*scan->probes), toggle_last);
}
