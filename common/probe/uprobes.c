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
struct placed {
	struct { struct code *code; long pid; } key;
	struct held *held, *apart;	/* NULL: none are in */
	UT_hash_handle hh;
};

static struct placed *placed;
static unsigned long refused;	/* files that would have been too many */

struct attaching {
	const struct target *t;
	const struct code *c;
	int pid;
	const struct elf_probe *probes;	/* NULL: it is a dynamic linker */
	int n;
};

static struct attachment *attach(void *ctx)
{
	const struct attaching *a = ctx;

	if (!a->probes)
		return watch_linker(code_fd(a->c), a->pid, a->c->scan.linker);
	return attach_file(a->t->obj, a->t->kind, code_fd(a->c), a->pid, a->probes, a->n);
}

/* Takes out what is in, some time. */
static void remove_held(struct held **held)
{
	if (*held)
		held_remove(*held);
	*held = NULL;
}

static void remove_placed(struct placed *p)
{
	remove_held(&p->held);
	remove_held(&p->apart);
	free(p);
}

/* Some of a file's probes, or its dynamic linker's. */
static int place(const struct placed *p, const struct target *t, int from, int n,
		 struct held **held)
{
	struct attaching a = {
		.t = t, .c = p->key.code, .pid = p->key.pid, .n = n,
		.probes = n ? p->key.code->scan.probes + from : NULL,
	};

	*held = hold(attach, &a);
	return *held ? 0 : -errno;
}

/* Of a file's probes, how many are not apart: those come first. */
static int together(const struct placed *p)
{
	const struct elf_scan *scan = &p->key.code->scan;
	int n = 0;

	while (n < scan->n && !scan->probes[n].apart)
		n++;
	return n;
}

static int place_apart(struct placed *p, const struct target *t)
{
	int from = together(p), n = p->key.code->scan.n - from;

	return n && !p->apart ? place(p, t, from, n, &p->apart) : 0;
}

static int place_all(struct placed *p, const struct target *t)
{
	int n = together(p), err = 0;

	if (n || !p->key.code->scan.n)
		err = place(p, t, 0, n, &p->held);
	return err ? err : place_apart(p, t);
}

static void too_many(const struct placed *p)
{
	if (!refused++)
		warning(0, "too much is probed already: %s of process %ld is not, nor what more there is",
			p->key.code->path, p->key.pid);
}

int code_attach(struct target *t, struct code *c, int pid)
{
	struct placed *p;
	struct placed want;
	int err;

	if (code_fd(c) < 0)
		return 0;
	memset(&want, 0, sizeof(want));
	want.key.code = c;
	want.key.pid = pid;
	HASH_FIND(hh, placed, &want.key, sizeof(want.key), p);
	if (p)
		return 0;
	p = xcalloc(1, sizeof(*p));
	p->key = want.key;
	if (c->scan.n && t->found) {
		t->found(t, c, pid);
		err = 0;
	} else {
		err = place_all(p, t);
	}
	if (err == -ATTACH_TOO_MANY) {	/* not to be tried again */
		remove_held(&p->held);
		too_many(p);
	} else if (err) {
		remove_placed(p);
		return err;
	}
	HASH_ADD(hh, placed, key, sizeof(p->key), p);
	if (!err && !c->counted && c->scan.n) {
		c->counted = true;
		t->nprobes += c->scan.n;
		t->nfiles++;
	}
	return 0;
}

bool code_apart(const struct target *t, bool in)
{
	struct placed *p;
	int err;

	if (in && holders_busy())
		return false;
	for (p = placed; p; p = p->hh.next) {
		err = in ? place_apart(p, t) : 0;
		if (err == -ATTACH_TOO_MANY)
			too_many(p);
		else if (err && err != -ESRCH)	/* not: it ended meanwhile */
			warning(err, "cannot probe %s", p->key.code->path);
		if (err || !in)
			remove_held(&p->apart);
	}
	return true;
}

bool code_apart_is_in(void)
{
	const struct placed *p = placed;

	while (p && !p->apart)
		p = p->hh.next;
	return p != NULL;
}

void code_detach(int pid)
{
	struct placed *p, *next;

	HASH_ITER(hh, placed, p, next) {
		if (pid >= 0 && p->key.pid != pid)
			continue;
		HASH_DEL(placed, p);
		remove_placed(p);
	}
	if (pid >= 0)
		return;
	holders_finish();
	if (refused)
		warning(0, "%lu times a file of a process was not probed: there were too many", refused);
}
