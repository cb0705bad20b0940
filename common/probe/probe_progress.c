/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <sys/mman.h>
#include "base/die.h"
#include "base/progress.h"
#include "probe/probe_progress.h"
#include "proc/helper_pool.h"

void probe_progress_init(struct probe_progress *p, struct helper_pool *helpers)
{
	*p = (struct probe_progress){ .helpers = helpers };
	p->live = mmap(NULL, sizeof(*p->live), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p->live == MAP_FAILED)
		die(errno, "%zu bytes", sizeof(*p->live));
}

void probe_progress_free(struct probe_progress *p)
{
	munmap(p->live, sizeof(*p->live));
}

static int live(const struct probe_progress *p)
{
	return __atomic_load_n(p->live, __ATOMIC_RELAXED);
}

/* How many there are more than n: links of files that are gone may be removed meanwhile. */
static int more_than(const struct probe_progress *p, int n)
{
	int now = live(p);

	return now > n ? now - n : 0;
}

void probe_progress_place(struct probe_progress *p, const char *file, int total)
{
	p->file = file;
	p->total = total;
	p->before = live(p);
}

void probe_progress_remove(struct probe_progress *p)
{
	p->removing = true;
	p->total = p->before = live(p);
}

bool probe_progress_idle(void *ctx)
{
	const struct probe_progress *p = ctx;
	struct progress *progress = p->helpers->progress;

	if (p->removing)
		progress_set(progress, "taking out probes: %d of %d; Ctrl-C leaves the rest to the kernel",
			     p->before - live(p), p->total);
	else if (p->file && p->total)
		progress_set(progress, "placing probes: %d of %d in %s", more_than(p, p->before), p->total, p->file);
	else if (p->file)
		progress_set(progress, "placing probes in %s", p->file);
	return helper_pool_poll(p->helpers);
}
