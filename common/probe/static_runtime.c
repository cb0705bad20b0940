/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "probe/dso.h"
#include "probe/static_runtime.h"
#include "probe/probe_source.h"
#include "probe/probes.h"
#include "probe/scan.h"
#include "proc/helper_files.h"

struct search {
	struct probes *p;
	int pid;
	struct dso *named, *nameless;	/* nameless: has kernels, and no names of a runtime */
	bool shared;			/* a runtime is mapped as a library */
};

static bool has_names(const struct probes *p, const struct dso *d)
{
	for (int i = 0; i < d->scan.n; i++)
		if (!d->scan.probes[i].exported && p->source->get(p, d->scan.probes[i].id).lib == CUDA_RT)
			return true;
	return false;
}

static bool find(void *ctx, const struct mapping *m)
{
	struct search *s = ctx;
	struct dso *d = dso_of_mapping(s->p, s->pid, m);

	s->shared |= d->scan.runtime;
	if (!s->named && has_names(s->p, d))
		s->named = d;
	if (!s->nameless && d->scan.fatbin && !d->scan.functions)
		s->nameless = d;
	return helper_pool_poll(s->p->helpers);
}

const char *static_runtime(struct probes *p, int pid)
{
	struct search s = { .p = p, .pid = pid };
	struct dso *d;

	if (p->layer == CUDA_DRV)
		return NULL;
	helper_mappings(p->helpers, pid, true, find, &s);
	/* NVIDIA's own libraries, such as cuBLAS, have a runtime beside the program's */
	d = s.named ? s.named : s.shared ? NULL : s.nameless;
	if (!d || d->linked_in)
		return NULL;
	d->linked_in = true;
	return d->path;
}
