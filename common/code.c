/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>
#include "code.h"
#include "die.h"
#include "functions.h"
#include "hash.h"
#include "report.h"
#include "target.h"
#include "watch.h"

struct entry {
	struct code code;
	int fd;			/* open while there is something to probe */
	bool counted;
	UT_hash_handle hh;
};

/* One file's probes for one process. */
struct placed {
	struct { struct code *code; long pid; } key;
	struct attachment *attachment;
	struct placed *next;	/* to be removed */
	UT_hash_handle hh;
};

static struct entry *entries;
static struct placed *placed;

static int late_last(const void *a, const void *b)
{
	const struct elf_probe *p = a, *q = b;

	return p->late != q->late ? p->late - q->late : p->id - q->id;
}

/* Keeps the functions that this tool wants, and tells the report of the others. */
static void choose(const struct target *t, struct code *c)
{
	struct elf_scan *scan = &c->scan;
	int kept = 0;

	for (int i = 0; i < scan->n; i++) {
		struct elf_probe *p = &scan->probes[i];
		struct function fn = t->functions->get(t, p->id);
		bool skipped = t->layer != TARGET_LAYER_ALL && t->layer != (int)fn.lib;

		if (!fn.wanted)
			continue;
		report_probe(c->path, &fn, p, skipped ? "--layer" : NULL);
		if (skipped)
			continue;
		p->returns = fn.returns;
		p->late = fn.late;
		scan->probes[kept++] = *p;
	}
	if (scan->error)
		report_file(c->path, scan->error);
	else if (!scan->n && scan->fatbin)
		report_file(c->path, "has kernels but no symbols: its calls are seen in the driver");
	else if (!scan->n)
		report_file(c->path, "defines no CUDA functions");
	scan->n = kept;
	if (kept)
		qsort(scan->probes, kept, sizeof(*scan->probes), late_last);
}

static struct code *look_into(const struct target *t, struct entry *e, int fd)
{
	e->fd = fd;
	if (fd < 0)
		report_file(e->code.path, strerror(-fd));
	else
		elf_scan(fd, t->functions->find, &e->code.scan);
	choose(t, &e->code);
	if (fd >= 0 && !e->code.scan.n && !(t->command && e->code.scan.linker)) {
		close(fd);
		e->fd = -EBADF;
	}
	return &e->code;
}

/* The entry of a file; *known if it need not be looked into.  The same file may have several
 * names, and must not be probed twice; but the number of an inode that is not held open may
 * by now be another file's. */
static struct entry *entry_of(unsigned long long dev, unsigned long long ino, const char *path,
			      bool *known)
{
	struct { unsigned long long dev, ino; } key = { dev, ino };
	struct entry *e;

	HASH_FIND(hh, entries, &key, sizeof(key), e);
	*known = e && (e->fd >= 0 || !strcmp(e->code.path, path));
	if (*known)
		return e;
	if (!e) {
		e = xcalloc(1, sizeof(*e));
		e->code.key.dev = dev;
		e->code.key.ino = ino;
		HASH_ADD(hh, entries, code.key, sizeof(key), e);
	}
	free(e->code.scan.probes);
	free(e->code.path);
	e->code.path = xstrdup(path);
	return e;
}

struct code *code_of_mapping(const struct target *t, int pid, const struct mapping *m)
{
	bool known;
	struct entry *e = entry_of(m->dev, m->ino, m->path, &known);

	return known ? &e->code : look_into(t, e, proc_open_mapping(pid, m));
}

struct code *code_of_file(const struct target *t, const char *path)
{
	int fd = proc_open_file(path);
	struct entry *e;
	struct stat st;
	bool known;

	if (fd < 0 || fstat(fd, &st)) {
		errno = fd < 0 ? -fd : errno;
		return NULL;
	}
	e = entry_of((unsigned long long)major(st.st_dev) << 32 | minor(st.st_dev), st.st_ino, path,
		     &known);
	if (!known)
		return look_into(t, e, fd);
	close(fd);
	return &e->code;
}

int code_attach(struct target *t, struct code *c, int pid)
{
	struct entry *e = (struct entry *)c;
	struct placed *p;
	struct attachment *a;
	struct placed want;

	if (e->fd < 0)
		return 0;
	memset(&want, 0, sizeof(want));
	want.key.code = c;
	want.key.pid = pid;
	HASH_FIND(hh, placed, &want.key, sizeof(want.key), p);
	if (p)
		return 0;
	a = c->scan.n ? attach_file(t->obj, t->kind, e->fd, pid, c->scan.probes, c->scan.n) :
			watch_linker(e->fd, pid, c->scan.linker);
	if (!a)
		return -errno;
	p = xcalloc(1, sizeof(*p));
	p->key = want.key;
	p->attachment = a;
	HASH_ADD(hh, placed, key, sizeof(p->key), p);
	if (!e->counted && c->scan.n) {
		e->counted = true;
		t->nprobes += c->scan.n;
		t->nfiles++;
	}
	return 0;
}

/* Taking a probe out waits until no processor can be in it, tens of milliseconds; a thread
 * of its own does that, so that records are read and stopped processes let go meanwhile. */
static struct {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t more;
	struct placed *first;
	bool running, end;
} detacher = { .lock = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER };

static void *detach(void *unused)
{
	struct placed *p;

	pthread_mutex_lock(&detacher.lock);
	while (!detacher.end || detacher.first) {
		p = detacher.first;
		if (!p) {
			pthread_cond_wait(&detacher.more, &detacher.lock);
			continue;
		}
		detacher.first = p->next;
		pthread_mutex_unlock(&detacher.lock);
		attach_remove(p->attachment);
		free(p);
		pthread_mutex_lock(&detacher.lock);
	}
	pthread_mutex_unlock(&detacher.lock);
	return unused;
}

void code_detach(int pid)
{
	struct placed *p, *next;

	if (!detacher.running && pthread_create(&detacher.thread, NULL, detach, NULL))
		die(0, "cannot start a thread");
	detacher.running = true;
	pthread_mutex_lock(&detacher.lock);
	HASH_ITER(hh, placed, p, next) {
		if (pid >= 0 && p->key.pid != pid)
			continue;
		HASH_DEL(placed, p);
		p->next = detacher.first;
		detacher.first = p;
	}
	detacher.end = pid < 0;
	pthread_cond_signal(&detacher.more);
	pthread_mutex_unlock(&detacher.lock);
	if (pid < 0)
		pthread_join(detacher.thread, NULL);
}
