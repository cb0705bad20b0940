/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include "probe/dso.h"
#include "base/die.h"
#include "base/hash.h"
#include "probe/link_pool.h"
#include "session/target.h"
#include "probe/watch.h"

/* One file's probes for one process. */
struct uprobe_site {
	struct { struct dso *code; long pid; } key;
	struct pooled_link *held, *toggle;	/* NULL: none are in */
	UT_hash_handle hh;
};

static struct uprobe_site *sites;
static unsigned long refused;	/* files that would have been too many */

struct attaching {
	const struct target *t;
	const struct dso *c;
	int pid;
	const struct elf_probe *probes;	/* NULL: it is a dynamic linker */
	int n;
};

static struct attachment *attach(void *ctx)
{
	const struct attaching *a = ctx;

	if (!a->probes)
		return watch_linker(dso_fd(a->c), a->pid, a->c->scan.linker);
	return attach_file(a->t->obj, a->t->kind, dso_fd(a->c), a->pid, a->probes, a->n);
}

/* Takes out what is in, some time. */
static void remove_link(struct pooled_link **held)
{
	if (*held)
		link_pool_remove(*held);
	*held = NULL;
}

static void remove_placed(struct uprobe_site *p)
{
	remove_link(&p->held);
	remove_link(&p->toggle);
	free(p);
}

/* Some of a file's probes, or its dynamic linker's. */
static int place(const struct uprobe_site *p, const struct target *t, int from, int n,
		 struct pooled_link **held)
{
	struct attaching a = {
		.t = t, .c = p->key.code, .pid = p->key.pid, .n = n,
		.probes = n ? p->key.code->scan.probes + from : NULL,
	};

	*held = link_pool_attach(attach, &a);
	return *held ? 0 : -errno;
}

/* Of a file's probes, how many are not apart: those come first. */
static int together(const struct uprobe_site *p)
{
	const struct elf_scan *scan = &p->key.code->scan;
	int n = 0;

	while (n < scan->n && !scan->probes[n].toggle)
		n++;
	return n;
}

static int attach_toggle(struct uprobe_site *p, const struct target *t)
{
	int from = together(p), n = p->key.code->scan.n - from;

	return n && !p->toggle ? place(p, t, from, n, &p->toggle) : 0;
}

static int place_all(struct uprobe_site *p, const struct target *t)
{
	int n = together(p), err = 0;

	if (n || !p->key.code->scan.n)
		err = place(p, t, 0, n, &p->held);
	return err ? err : attach_toggle(p, t);
}

static void too_many(const struct uprobe_site *p)
{
	if (!refused++)
		warning(0, "uprobe link limit reached: not probing %s in process %ld or anything "
			"mapped later", p->key.code->path, p->key.pid);
}

int uprobes_attach(struct target *t, struct dso *c, int pid)
{
	struct uprobe_site *p;
	struct uprobe_site want;
	int err;

	if (dso_fd(c) < 0)
		return 0;
	memset(&want, 0, sizeof(want));
	want.key.code = c;
	want.key.pid = pid;
	HASH_FIND(hh, sites, &want.key, sizeof(want.key), p);
	if (p)
		return 0;
	p = xcalloc(1, sizeof(*p));
	p->key = want.key;
	if (c->scan.n && t->on_dso) {
		t->on_dso(t, c, pid);
		err = 0;
	} else {
		err = place_all(p, t);
	}
	if (err == -ATTACH_TOO_MANY) {	/* not to be tried again */
		remove_link(&p->held);
		too_many(p);
	} else if (err) {
		remove_placed(p);
		return err;
	}
	HASH_ADD(hh, sites, key, sizeof(p->key), p);
	if (!err && !c->counted && c->scan.n) {
		c->counted = true;
		t->nprobes += c->scan.n;
		t->nfiles++;
	}
	return 0;
}

bool uprobes_toggle(const struct target *t, bool in)
{
	struct uprobe_site *p;
	int err;

	if (in && link_pool_busy())
		return false;
	for (p = sites; p; p = p->hh.next) {
		err = in ? attach_toggle(p, t) : 0;
		if (err == -ATTACH_TOO_MANY)
			too_many(p);
		else if (err && err != -ESRCH)	/* not: it ended meanwhile */
			warning(err, "cannot probe %s", p->key.code->path);
		if (err || !in)
			remove_link(&p->toggle);
	}
	return true;
}

bool uprobes_toggled_in(void)
{
	const struct uprobe_site *p = sites;

	while (p && !p->toggle)
		p = p->hh.next;
	return p != NULL;
}

void uprobes_detach(int pid)
{
	struct uprobe_site *p, *next;

	HASH_ITER(hh, sites, p, next) {
		if (pid >= 0 && p->key.pid != pid)
			continue;
		HASH_DEL(sites, p);
		remove_placed(p);
	}
	if (pid >= 0)
		return;
	link_pool_finish();
	if (refused)
		warning(0, "uprobe link limit reached: a mapped file was not probed %lu times", refused);
}
