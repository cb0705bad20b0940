/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "abi/watch_event.h"
#include "api/cuda_fn.h"
#include "base/die.h"
#include "base/hash.h"
#include "probe/dso.h"
#include "probe/probe_source.h"
#include "probe/probes.h"
#include "proc/helper_files.h"
#include "proc/helper_pool.h"

/* A file, and the process it is mapped in.  The file must be open as long as a look at it may go on:
 * then there is no other with the same device and inode number. */
struct dso_scan {
	unsigned long long dev, ino;
	int pid;
	const char *path;
};

/* Where it is. */
struct dso_place {
	bool layered;		/* on overlayfs */
	bool fuse;		/* on FUSE, below overlayfs too */
};

/* Selects the functions of a file to probe. */

static int toggle_last(const void *a, const void *b)
{
	const struct elf_probe *p = a, *q = b;

	if (p->detachable != q->detachable)
		return p->detachable - q->detachable;
	return p->attach_last != q->attach_last ? p->attach_last - q->attach_last : p->id - q->id;
}

/* Reports to p->on_skipped(), if set, why nothing in a file is probed. */
static void report_skipped(const struct probes *p, const char *path, const char *why)
{
	if (p->on_skipped)
		p->on_skipped(p->listener, path, why);
}

/* The major version of a runtime that is linked in, which has no symbol versions: 12 still has a function that 13 lacks.
 * 0: not known. */
static int linked_in_version(const struct probes *p, const struct elf_scan *scan)
{
	const int removed = p->source->find(p->source->ctx, "cudaThreadExit");

	for (int i = 0; i < scan->n; i++)
		if (removed >= 0 && scan->probes[i].id == removed)
			return 12;
	return 0;
}

static bool has_driver(const struct probes *p, const struct elf_scan *scan)
{
	for (int i = 0; i < scan->n; i++)
		if (p->source->get(p, scan->probes[i].id).lib == CUDA_DRV)
			return true;
	return false;
}

/* Keeps those functions of the scan that p->source wants, sorted in the order to probe them, those
 * that toggle last.  Reports each wanted function, kept or skipped, to p->on_probe(), and a file
 * that has no functions to p->on_skipped(). */
static void select_probes(const struct probes *p, const char *path, struct elf_scan *scan, int runtime)
{
	int kept = 0;

	for (int i = 0; i < scan->n; i++) {
		struct elf_probe *at = &scan->probes[i];
		struct function fn;

		if (p->source->form)
			at->id = p->source->form(at->id, runtime);
		fn = p->source->get(p, at->id);
		bool skipped = !cuda_lib_in_layer(fn.lib, p->layer);

		if (!fn.wanted)
			continue;
		if (p->on_dso)	/* other programs probe a function at its start */
			at->offset = at->symbol;
		if (p->on_probe)
			p->on_probe(p->listener, path, &fn, at, skipped ? "--layer" : NULL);
		if (skipped)
			continue;
		at->returns = fn.returns;
		at->attach_last = fn.attach_last;
		at->detachable = fn.detachable;
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

/* The source's functions and tables have the same addresses in the helper. */
struct scan_request {
	const struct probe_source *source;
	struct inode_reader *inodes;
	unsigned long long dev, ino;	/* only to distinguish requests */
	bool usdt;
};

struct answer {
	int err;
	struct dso_place place;
	struct elf_scan scan;	/* its probes follow; error is static */
};

static struct dso_place place_of(struct inode_reader *inodes, int fd)
{
	struct statfs fs = { 0 };
	bool layered = !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;

	unsigned long magic = layered ? inode_of_file(inodes, fd).magic : (unsigned long)fs.f_type;

	return (struct dso_place){ layered, magic == FUSE_SUPER_MAGIC };
}

static void scan_file(struct helper_job *job)
{
	const struct scan_request *r = job->in;
	struct answer a = { 0 };
	int fd = proc_reopen(job->fd);

	if (fd < 0) {
		a.err = fd;
	} else {
		elf_scan(fd, r->source->find, r->source->ctx, &a.scan);
		if (r->usdt)
			elf_usdt_scan(fd, r->source->find_usdt, r->source->ctx, &a.scan);
		if (a.scan.n || a.scan.linker)
			a.place = place_of(r->inodes, fd);
		close(fd);
	}
	helper_put(job, &a, sizeof(a));
	helper_put(job, a.scan.probes, a.scan.n * sizeof(*a.scan.probes));
	free(a.scan.probes);
}

/* Sets *scan to what p->source finds in the file of an O_PATH descriptor, and *place, by a helper call.
 * Returns 0 or the error of helper_call(). */
static int dso_scan(const struct probes *p, const struct dso_scan *file, int fd, struct elf_scan *scan,
	     struct dso_place *place)
{
	const struct scan_request r = {
		p->source, &p->helpers->inodes, file->dev, file->ino, p->usdt && p->source->find_usdt,
	};
	struct helper_answer bytes;
	int err = helper_call(p->helpers, &(struct helper_request){
			file->pid, file->path, scan_file, &r, sizeof(r), .fd = fd }, &bytes);
	struct answer a;
	size_t size;

	if (err)
		return err;
	memcpy(&a, bytes.bytes, sizeof(a));
	size = a.scan.n * sizeof(*a.scan.probes);
	*scan = a.scan;
	scan->probes = size ? xcalloc(1, size) : NULL;
	if (size)
		memcpy(scan->probes, bytes.bytes + sizeof(a), size);
	*place = a.place;
	helper_drop(&bytes);
	return a.err;
}

struct dso_entry {
	struct dso dso;
	int fd;			/* O_PATH, if there is something to probe; else -errno */
	bool nothing;		/* it was read and has nothing to probe … */
	struct file_id id;	/* … as long as it is still this file */
	int said;		/* the last error */
	struct dso_place place;
	unsigned long long inode;	/* see proc/inode.h; 0 until a file on overlayfs is seen */
	struct dso_entry *same;	/* the entry probed in its place */
	struct dso_entry *former;	/* the file as it was mapped before it was copied up */
	struct dso_entry *next;	/* in the table's others */
	UT_hash_handle hh, hh_inode;
};

struct dso_table {
	struct dso_entry *entries, *by_inode;
	struct dso_entry *others;	/* on overlayfs, with the inode number of another entry */
	bool layers;		/* a file on overlayfs was seen */
	unsigned drivers;	/* files with functions of the driver */
};

static struct dso_table *table_of(struct probes *p)
{
	if (!p->dsos)
		p->dsos = xcalloc(1, sizeof(*p->dsos));
	return p->dsos;
}

/* Sets e->same to the entry already probed for this inode; if there is none, adds e for it. */
static void enter_by_inode(struct probes *p, struct dso_entry *e)
{
	struct dso_table *t = p->dsos;

	e->inode = helper_inode_of_file(p->helpers, e->dso.pid, e->fd);
	if (!e->inode)
		return;
	HASH_FIND(hh_inode, t->by_inode, &e->inode, sizeof(e->inode), e->same);
	if (!e->same)
		HASH_ADD(hh_inode, t->by_inode, inode, sizeof(e->inode), e);
}

/* Once a file on overlayfs has been seen: a file with another name and number may be the same file,
 * and already probed. */
static bool is_known_by_inode(struct probes *p, struct dso_entry *e)
{
	struct dso_table *t = p->dsos;
	struct dso_entry *other;

	for (other = t->entries; e->place.layered && !t->layers && other; other = other->hh.next)
		if (other != e && other->fd >= 0)
			enter_by_inode(p, other);
	t->layers |= e->place.layered;
	if (t->layers)
		enter_by_inode(p, e);
	return e->same;
}

bool dso_shows(const struct probes *p, const struct dso *d)
{
	for (int i = 0; i < d->scan.n; i++)
		if (!p->source->get(p, d->scan.probes[i].id).helper_only)
			return true;
	return false;
}

static bool is_to_be_probed(const struct probes *p, const struct dso *d)
{
	return d->scan.n || (p->linkers && d->scan.linker);
}

static void forget_file(struct dso_table *t, struct dso_entry *e, int err)
{
	if (e->inode)
		HASH_DELETE(hh_inode, t->by_inode, e);
	close(e->fd);
	e->inode = 0;
	e->fd = err;
}

/* Says once why a file cannot be opened for now; what takes too long, helper_call() says. */
static void not_read(struct probes *p, struct dso_entry *e)
{
	int err = e->fd;

	report_skipped(p, e->dso.path, helper_error(err));
	probes_lack(p, err);
	if (err == e->said)
		return;
	if (err == -EMFILE || err == -ENFILE)
		warning(err, "cannot open %s of process %d for now", e->dso.path, e->dso.pid);
	else if (err == -EWOULDBLOCK)
		warning(0, "cannot open %s of process %d: %s; trying again", e->dso.path, e->dso.pid,
			helper_error(err));
	e->said = err;
}

/* To probe a file the kernel reads its code, and until it has read it no process on the machine can
 * fork (uprobe_register(), dup_mmap_sem): a FUSE daemon can make that hang. */
static bool is_risky(struct probes *p, struct dso_entry *e)
{
	static const char why[] = "it is on a FUSE file system, whose daemon could stop every fork on the "
				  "machine: use -p or -c if you trust it";

	if (p->pids || !e->dso.pid || !is_to_be_probed(p, &e->dso))
		return false;
	warning(0, "not probing %s of process %d: %s", e->dso.path, e->dso.pid, why);
	report_skipped(p, e->dso.path, why);
	free(e->dso.scan.probes);
	e->dso.scan = (struct elf_scan){ .fatbin = e->dso.scan.fatbin };
	forget_file(p->dsos, e, -EBADF);
	e->place.layered = false;	/* whichever layer it is of */
	e->nothing = true;
	return true;
}

/* Scans the file behind fd, an O_PATH descriptor, which the entry keeps if there is something to
 * probe; negative: why it could not be opened. */
static void helper_into(struct probes *p, struct dso_entry *e, int fd)
{
	const struct dso_scan id = { e->dso.key.dev, e->dso.key.ino, e->dso.pid, e->dso.path };
	int err = fd < 0 ? fd : dso_scan(p, &id, fd, &e->dso.scan, &e->place);

	e->fd = fd;
	if (err) {
		if (fd >= 0)
			forget_file(p->dsos, e, err);
		e->fd = err;
		not_read(p, e);
		return;
	}
	e->dso.runtime = e->dso.scan.runtime ? e->dso.scan.runtime : linked_in_version(p, &e->dso.scan);
	if (e->place.fuse && is_risky(p, e))
		return;
	if (is_to_be_probed(p, &e->dso) && is_known_by_inode(p, e)) {
		report_skipped(p, e->dso.path, "same inode as a file above (overlayfs lower layer)");
		return;
	}
	select_probes(p, e->dso.path, &e->dso.scan, e->dso.runtime);
	if (has_driver(p, &e->dso.scan))
		e->dso.driver = cookie_of_driver(p->dsos->drivers++);
	p->usdt_left |= e->dso.scan.usdt_left;
	if (is_to_be_probed(p, &e->dso))
		return;
	forget_file(p->dsos, e, -EBADF);
	e->nothing = true;
}

/* The number of an inode that we do not hold open may have been reused. */
static bool is_known(const struct dso_entry *e, const struct mapping *m)
{
	return e->fd >= 0 || (e->nothing && !strcmp(e->dso.path, m->path) &&
			      !memcmp(&e->id, &m->id, sizeof(e->id)));
}

/* Returns the entry of a file; sets *known if the file need not be scanned.  A file may have
 * several names and must not be probed twice; but a file that cannot be opened in one process may be
 * in another. */
static struct dso_entry *entry_of(struct dso_table *t, int pid, const struct mapping *m, bool *known)
{
	struct { unsigned long long dev, ino; } key = { m->dev, m->ino };
	struct dso_entry *e;

	HASH_FIND(hh, t->entries, &key, sizeof(key), e);
	*known = e && is_known(e, m);
	if (*known)
		return e;
	if (!e) {
		e = xcalloc(1, sizeof(*e));
		e->dso.key.dev = m->dev;
		e->dso.key.ino = m->ino;
		HASH_ADD(hh, t->entries, dso.key, sizeof(key), e);
	}
	free(e->dso.scan.probes);
	free(e->dso.path);
	e->dso.scan = (struct elf_scan){ 0 };
	e->dso.path = xstrdup(m->path);
	e->dso.pid = pid;
	e->id = m->id;
	e->nothing = false;
	return e;
}

/* Adds an entry that is not looked up by inode number. */
static struct dso_entry *add_other(struct dso_table *t, const char *path)
{
	struct dso_entry *e = xcalloc(1, sizeof(*e));

	e->dso.path = xstrdup(path);
	e->next = t->others;
	t->others = e;
	return e;
}

/* The file was modified after the process mapped it, and the mapped one can no longer be opened:
 * its name and number now belong to the copy. */
static struct dso_entry *copied_up(struct probes *p, struct dso_entry *e, int pid,
				   const struct mapping *m)
{
	if (e->former)
		return e->former;
	warning(0, "%s was modified on its overlay file system after process %d mapped it: calls to it "
		"are missed until the program is restarted", m->path, pid);
	report_skipped(p, m->path, "copied up after it was mapped");
	e->former = add_other(p->dsos, m->path);
	e->former->fd = -ESTALE;
	return e->former;
}

/* Returns which of the files with this inode number the process has mapped. */
static struct dso_entry *entry_mapped(struct probes *p, struct dso_entry *e, int pid,
				      const struct mapping *m)
{
	struct dso_table *t = p->dsos;
	unsigned long long inode = helper_inode(p->helpers, pid, m->start);
	struct dso_entry *found;
	int fd;

	if (!inode)	/* the process has ended */
		return e;
	HASH_FIND(hh_inode, t->by_inode, &inode, sizeof(inode), found);
	if (found)
		return found;
	fd = helper_open(p->helpers, pid, m);
	if (fd < 0 || helper_inode_of_file(p->helpers, pid, fd) != inode) {
		if (fd >= 0)
			close(fd);
		return copied_up(p, e, pid, m);
	}
	found = add_other(t, m->path);
	found->dso.pid = pid;
	helper_into(p, found, fd);
	return found;
}

struct dso *dso_of_mapping(struct probes *p, int pid, const struct mapping *m)
{
	bool known;
	struct dso_entry *e = entry_of(table_of(p), pid, m, &known);

	if (!known)
		helper_into(p, e, helper_open(p->helpers, pid, m));
	if (e->place.layered)
		return &entry_mapped(p, e, pid, m)->dso;
	return e->same ? &e->same->dso : &e->dso;
}

struct dso *dso_of_file(struct probes *p, const char *path)
{
	int fd = open(path, O_PATH | O_CLOEXEC);
	struct mapping m = { .path = path };
	struct dso_entry *e;
	bool known;
	int err;

	if (fd < 0)
		return NULL;
	err = helper_file_id(p->helpers, fd, path, &m.dev, &m.ino);
	if (err) {
		close(fd);
		errno = -err;
		return NULL;
	}
	e = entry_of(table_of(p), 0, &m, &known);
	if (known)
		close(fd);
	else
		helper_into(p, e, fd);
	return e->same ? &e->same->dso : &e->dso;
}

int dso_fd(const struct dso *d)
{
	return ((const struct dso_entry *)d)->fd;
}

bool dso_on_fuse(const struct dso *d)
{
	return ((const struct dso_entry *)d)->place.fuse;
}

static void entry_free(struct dso_entry *e)
{
	if (e->fd >= 0)
		close(e->fd);
	free(e->dso.scan.probes);
	free(e->dso.path);
	free(e);
}

void dso_free(struct probes *p)
{
	struct dso_table *t = p->dsos;
	struct dso_entry *e, *next;

	if (!t)
		return;
	HASH_CLEAR(hh_inode, t->by_inode);
	HASH_ITER(hh, t->entries, e, next) {
		HASH_DEL(t->entries, e);
		entry_free(e);
	}
	while ((e = t->others)) {
		t->others = e->next;
		entry_free(e);
	}
	free(t);
	p->dsos = NULL;
}
