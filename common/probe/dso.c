/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>
#include "probe/dso.h"
#include "base/die.h"
#include "probe/probe_source.h"
#include "base/hash.h"
#include "proc/inode.h"
#include "session/probe_list.h"
#include "session/target.h"

struct entry {
	struct dso code;
	int fd;			/* open while there is something to probe */
	bool nothing;		/* it was read, and has nothing to probe */
	bool layered;		/* it is on overlayfs */
	unsigned long long inode;	/* 0 while nothing is */
	struct entry *same;	/* the entry that is probed in its stead */
	struct entry *former;	/* what was copied up while somebody had it mapped */
	UT_hash_handle hh, hh_inode;
};

static struct entry *entries, *by_inode;

static int toggle_last(const void *a, const void *b)
{
	const struct elf_probe *p = a, *q = b;

	if (p->toggle != q->toggle)
		return p->toggle - q->toggle;
	return p->late != q->late ? p->late - q->late : p->id - q->id;
}

/* Keeps the functions that this tool wants, and tells the report of the others. */
static void choose(const struct target *t, struct dso *c)
{
	struct elf_scan *scan = &c->scan;
	int kept = 0;

	for (int i = 0; i < scan->n; i++) {
		struct elf_probe *p = &scan->probes[i];
		struct function fn = t->functions->get(t, p->id);
		bool skipped = t->layer != TARGET_LAYER_ALL && t->layer != (int)fn.lib;

		if (!fn.wanted)
			continue;
		if (t->on_dso)	/* other programs probe a function at its start */
			p->offset = p->symbol;
		probe_list_probe(c->path, &fn, p, skipped ? "--layer" : NULL);
		if (skipped)
			continue;
		p->returns = fn.returns;
		p->late = fn.late;
		p->toggle = fn.toggle;
		scan->probes[kept++] = *p;
	}
	if (scan->error)
		probe_list_file(c->path, scan->error);
	else if (!scan->n && scan->fatbin)
		probe_list_file(c->path, "has kernels but no symbols: its calls are traced in the driver");
	else if (!scan->n)
		probe_list_file(c->path, "defines no CUDA functions");
	scan->n = kept;
	if (kept)
		qsort(scan->probes, kept, sizeof(*scan->probes), toggle_last);
}

static bool is_layered(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

/* Finds the entry that is probed already for this inode, else makes it this. */
static void enter_by_inode(struct entry *e)
{
	e->inode = inode_of_file(e->fd);
	if (!e->inode)
		return;
	HASH_FIND(hh_inode, by_inode, &e->inode, sizeof(e->inode), e->same);
	if (!e->same)
		HASH_ADD(hh_inode, by_inode, inode, sizeof(e->inode), e);
}

/* From the first file on overlayfs on: one of another name and number may be the same, and be
 * probed already. */
static bool is_known_by_inode(struct entry *e)
{
	static bool layers;
	struct entry *other;

	e->layered = is_layered(e->fd);
	for (other = entries; e->layered && !layers && other; other = other->hh.next)
		if (other != e && other->fd >= 0)
			enter_by_inode(other);
	layers |= e->layered;
	if (layers)
		enter_by_inode(e);
	if (e->same)
		probe_list_file(e->code.path, "same inode as a file above (overlayfs lower layer)");
	return e->same;
}

static bool is_to_be_probed(const struct target *t, const struct dso *c)
{
	return c->scan.n || (t->command && c->scan.linker);
}

static void look_into(const struct target *t, struct entry *e, int fd)
{
	e->fd = fd;
	if (fd < 0) {
		probe_list_file(e->code.path, strerror(-fd));
		return;
	}
	elf_scan(fd, t->functions->find, &e->code.scan);
	if (is_to_be_probed(t, &e->code) && is_known_by_inode(e))
		return;
	choose(t, &e->code);
	if (is_to_be_probed(t, &e->code))
		return;
	if (e->inode)
		HASH_DELETE(hh_inode, by_inode, e);
	close(fd);
	e->inode = 0;
	e->fd = -EBADF;
	e->nothing = true;
}

/* The entry of a file; *known if it need not be looked into.  The same file may have several
 * names, and must not be probed twice; but the number of an inode that is not held open may
 * by now be another file's, and what could not be opened in one process may be in another. */
static struct entry *entry_of(unsigned long long dev, unsigned long long ino, const char *path,
			      bool *known)
{
	struct { unsigned long long dev, ino; } key = { dev, ino };
	struct entry *e;

	HASH_FIND(hh, entries, &key, sizeof(key), e);
	*known = e && (e->fd >= 0 || (e->nothing && !strcmp(e->code.path, path)));
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
	e->code.scan = (struct elf_scan){ 0 };
	e->code.path = xstrdup(path);
	e->nothing = false;
	return e;
}

/* The file that the process has mapped was changed since, and cannot be opened any more: what
 * has its name and number now is the copy. */
static struct entry *copied_up(struct entry *e, int pid, const struct mapping *m)
{
	if (e->former)
		return e->former;
	warning(0, "%s was modified on its overlay file system after process %d mapped it: calls to it "
		"are missed until the program is restarted", m->path, pid);
	probe_list_file(m->path, "copied up after it was mapped");
	e->former = xcalloc(1, sizeof(*e));
	e->former->code.path = xstrdup(m->path);
	e->former->fd = -ESTALE;
	return e->former;
}

/* Which of the files of this number the process has mapped. */
static struct entry *entry_mapped(const struct target *t, struct entry *e, int pid,
				  const struct mapping *m)
{
	unsigned long long inode = inode_of_mapping(pid, m->start);
	struct entry *found;
	int fd;

	if (!inode)	/* it ended meanwhile */
		return e;
	HASH_FIND(hh_inode, by_inode, &inode, sizeof(inode), found);
	if (found)
		return found;
	fd = proc_open_mapping(pid, m);
	if (fd < 0 || inode_of_file(fd) != inode) {
		if (fd >= 0)
			close(fd);
		return copied_up(e, pid, m);
	}
	found = xcalloc(1, sizeof(*found));
	found->code.path = xstrdup(m->path);
	look_into(t, found, fd);
	return found;
}

struct dso *dso_of_mapping(const struct target *t, int pid, const struct mapping *m)
{
	bool known;
	struct entry *e = entry_of(m->dev, m->ino, m->path, &known);

	if (!known)
		look_into(t, e, proc_open_mapping(pid, m));
	if (e->layered)
		return &entry_mapped(t, e, pid, m)->code;
	return e->same ? &e->same->code : &e->code;
}

struct dso *dso_of_file(const struct target *t, const char *path)
{
	int fd = proc_open_file(path);
	unsigned long long dev, ino;
	struct entry *e;
	bool known;

	if (fd >= 0 && !proc_file_id(fd, &dev, &ino)) {
		close(fd);
		fd = -EIO;
	}
	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	e = entry_of(dev, ino, path, &known);
	if (known)
		close(fd);
	else
		look_into(t, e, fd);
	return e->same ? &e->same->code : &e->code;
}

int dso_fd(const struct dso *c)
{
	return ((const struct entry *)c)->fd;
}
