/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include "base/die.h"
#include "base/hash.h"
#include "probe/dso.h"
#include "probe/link_pool.h"
#include "probe/probes.h"
#include "probe/uprobes.h"
#include "probe/watch.h"

/* The probes of one file in one process. */
struct uprobe_site {
	struct { struct dso *dso; long pid; } key;
	struct pooled_link *link, *toggle;	/* NULL: not attached */
	UT_hash_handle hh;
};

struct uprobe_sites {
	struct uprobe_site *sites;
	struct link_pool *pool;
	unsigned long refused;	/* files not probed because of the limit on links */
};

struct attaching {
	struct probes *p;
	const struct dso *dso;
	int pid;
	const struct elf_probe *probes;	/* NULL: dso is a dynamic linker */
	int n;
};

static struct uprobe_sites *sites_of(struct probes *p)
{
	if (!p->sites) {
		p->sites = xcalloc(1, sizeof(*p->sites));
		p->sites->pool = link_pool_new();
	}
	return p->sites;
}

static struct attachment *attach(void *ctx)
{
	const struct attaching *a = ctx;
	struct probes *p = a->p;

	if (!a->probes)
		return watch_linker(p->watch, dso_fd(a->dso), a->pid, a->dso->scan.linker);
	return attach_file(&p->attacher, dso_fd(a->dso), a->pid, a->probes, a->n);
}

/* Detaches the link asynchronously, if there is one. */
static void remove_link(struct pooled_link **link)
{
	if (*link)
		link_pool_remove(*link);
	*link = NULL;
}

static void site_free(struct uprobe_site *s)
{
	remove_link(&s->link);
	remove_link(&s->toggle);
	free(s);
}

/* Attaches n of a file's probes, or if n is 0 the probe of a dynamic linker. */
static int attach_some(struct probes *p, const struct uprobe_site *s, int from, int n,
		       struct pooled_link **link)
{
	struct attaching a = {
		.p = p, .dso = s->key.dso, .pid = s->key.pid, .n = n,
		.probes = n ? s->key.dso->scan.probes + from : NULL,
	};

	*link = link_pool_attach(p->sites->pool, attach, &a);
	return *link ? 0 : -errno;
}

/* Returns how many of a file's probes do not toggle: those come first. */
static int count_fixed(const struct uprobe_site *s)
{
	const struct elf_scan *scan = &s->key.dso->scan;
	int n = 0;

	while (n < scan->n && !scan->probes[n].toggle)
		n++;
	return n;
}

static int attach_toggle(struct probes *p, struct uprobe_site *s)
{
	int from = count_fixed(s), n = s->key.dso->scan.n - from;

	return n && !s->toggle ? attach_some(p, s, from, n, &s->toggle) : 0;
}

static int attach_all(struct probes *p, struct uprobe_site *s)
{
	int n = count_fixed(s), err = 0;

	if (n || !s->key.dso->scan.n)
		err = attach_some(p, s, 0, n, &s->link);
	return err ? err : attach_toggle(p, s);
}

static void too_many(struct probes *p, const struct uprobe_site *s)
{
	if (!p->sites->refused++)
		warning(0, "uprobe link limit reached: not probing %s in process %ld or anything mapped later",
			s->key.dso->path, s->key.pid);
}

int uprobes_attach(struct probes *p, struct dso *d, int pid)
{
	struct uprobe_sites *all = sites_of(p);
	struct uprobe_site want, *s;
	int err;

	if (dso_fd(d) < 0)
		return 0;
	memset(&want, 0, sizeof(want));
	want.key.dso = d;
	want.key.pid = pid;
	HASH_FIND(hh, all->sites, &want.key, sizeof(want.key), s);
	if (s)
		return 0;
	s = xcalloc(1, sizeof(*s));
	s->key = want.key;
	if (d->scan.n && p->on_dso) {
		p->on_dso(p->tool, d, pid);
		err = 0;
	} else {
		err = attach_all(p, s);
	}
	if (err == -ATTACH_TOO_MANY) {	/* do not try again */
		remove_link(&s->link);
		too_many(p, s);
	} else if (err) {
		site_free(s);
		return err;
	}
	HASH_ADD(hh, all->sites, key, sizeof(s->key), s);
	if (!err && !d->counted && d->scan.n) {
		d->counted = true;
		p->nprobes += d->scan.n;
		p->nfiles++;
	}
	return 0;
}

bool uprobes_toggle(struct probes *p, bool in)
{
	struct uprobe_sites *all = sites_of(p);
	int err;

	if (in && link_pool_busy(all->pool))
		return false;
	for (struct uprobe_site *s = all->sites; s; s = s->hh.next) {
		err = in ? attach_toggle(p, s) : 0;
		if (err == -ATTACH_TOO_MANY)
			too_many(p, s);
		else if (err && err != -ESRCH)	/* ESRCH: the process has ended */
			warning(err, "cannot probe %s", s->key.dso->path);
		if (err || !in)
			remove_link(&s->toggle);
	}
	return true;
}

bool uprobes_toggled_in(const struct probes *p)
{
	const struct uprobe_site *s = p->sites ? p->sites->sites : NULL;

	while (s && !s->toggle)
		s = s->hh.next;
	return s != NULL;
}

void uprobes_detach(struct probes *p, int pid)
{
	struct uprobe_sites *all = p->sites;
	struct uprobe_site *s, *next;

	if (!all)
		return;
	HASH_ITER(hh, all->sites, s, next) {
		if (pid >= 0 && s->key.pid != pid)
			continue;
		HASH_DEL(all->sites, s);
		site_free(s);
	}
	if (pid >= 0)
		return;
	link_pool_free(all->pool);
	if (all->refused)
		warning(0, "uprobe link limit reached: a mapped file was not probed %lu times",
			all->refused);
	free(all);
	p->sites = NULL;
}
