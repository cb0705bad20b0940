/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/die.h"
#include "proc/helper_files.h"

/* Answers are not larger: a million mappings. */
enum { MAX_ANSWER = 48 << 20 };

/* A mapping in an answer. */
struct entry {
	unsigned long long start, end, offset;
	unsigned path_size;	/* padded; 0: the file is that of the entry before */
	unsigned unused;
};

/* Follows an entry with a path_size; the path follows. */
struct entry_file {
	unsigned long long dev, ino;
	struct file_id id;
};

struct listing {
	struct helper_job *job;
	struct entry_file last;
	char path[4096];	/* of last */
	int pid;
	bool identify, by_name, full;
};

static bool is_same_file(const struct listing *l, const struct mapping *m)
{
	return l->last.dev == m->dev && l->last.ino == m->ino && !strcmp(l->path, m->path);
}

static bool list_mapping(void *ctx, const struct mapping *m)
{
	struct listing *l = ctx;
	bool same = is_same_file(l, m);
	struct entry e = { m->start, m->end, m->offset, same ? 0 : (strlen(m->path) + 8) & ~7u, 0 };

	helper_put(l->job, &e, sizeof(e));
	if (!same) {
		l->last = (struct entry_file){ .dev = m->dev, .ino = m->ino };
		if (l->identify)
			proc_identify(l->pid, m, l->by_name, &l->last.id);
		snprintf(l->path, sizeof(l->path), "%s", m->path);
		helper_put(l->job, &l->last, sizeof(l->last));
		helper_put(l->job, m->path, strlen(m->path) + 1);
		helper_put(l->job, "\0\0\0\0\0\0\0", -l->job->out_size & 7);
	}
	l->full = l->job->out_size > MAX_ANSWER;
	return !l->full;
}

struct mappings_request {
	int pid;
	bool identify, by_name;
};

static void list_mappings(struct helper_job *job)
{
	const struct mappings_request *r = job->in;
	struct listing l = { .job = job, .pid = r->pid, .identify = r->identify, .by_name = r->by_name };
	long long err = 0;

	helper_put(job, &err, sizeof(err));
	err = proc_mappings(r->pid, list_mapping, &l);
	err = l.full ? -E2BIG : err;
	memcpy(job->out, &err, sizeof(err));
}

/* Calls fn for the mappings of an answer. */
static void each_entry(const char *at, const char *end, bool (*fn)(void *ctx, const struct mapping *m),
		       void *ctx)
{
	struct mapping m = { 0 };
	struct entry_file file;
	struct entry e;

	while (at < end) {
		memcpy(&e, at, sizeof(e));
		at += sizeof(e);
		m.start = e.start;
		m.end = e.end;
		m.offset = e.offset;
		if (e.path_size) {
			memcpy(&file, at, sizeof(file));
			m.dev = file.dev;
			m.ino = file.ino;
			m.id = file.id;
			m.path = at + sizeof(file);
			at += sizeof(file) + e.path_size;
		}
		if (!fn(ctx, &m))
			break;
	}
}

int helper_mappings(struct helper_pool *l, int pid, bool identify,
		  bool (*fn)(void *ctx, const struct mapping *m), void *ctx)
{
	const struct mappings_request r = { pid, identify, l->by_name };
	struct helper_answer a;
	int err = helper_call(l, &(struct helper_request){
			pid, "mappings", list_mappings, &r, sizeof(r), .fd = -1 }, &a);

	if (err)
		return err;
	err = *(long long *)a.bytes;
	each_entry(a.bytes + sizeof(long long), a.bytes + a.size, fn, ctx);
	helper_drop(&a);
	return err;
}

struct hazards_answer {
	int err;
	struct proc_hazards hazards;
};

static void find_hazards(struct helper_job *job)
{
	struct hazards_answer answer = { 0 };

	answer.err = proc_hazards(*(const int *)job->in, &answer.hazards);
	helper_put(job, &answer, sizeof(answer));
}

int helper_hazards(struct helper_pool *l, int pid, struct proc_hazards *h)
{
	struct hazards_answer answer;
	struct helper_answer a;
	int err = helper_call(l, &(struct helper_request){
			pid, "mappings", find_hazards, &pid, sizeof(pid), .fd = -1 }, &a);

	if (err)
		return err;
	memcpy(&answer, a.bytes, sizeof(answer));
	helper_drop(&a);
	*h = answer.hazards;
	return answer.err;
}

/* The path is only there for a file that has to be opened by its name; m.path is NULL, as no answer depends on where that
 * stands. */
struct open_request {
	int pid;
	bool by_name;
	struct mapping m;
	char path[];
};

static void open_mapping(struct helper_job *job)
{
	const struct open_request *r = job->in;
	struct mapping m = r->m;
	int fd, err;

	m.path = r->path;
	err = proc_open_mapping(r->pid, &m, r->by_name, &fd);

	helper_put(job, &err, sizeof(err));
	if (!err)
		helper_put_fd(job, fd);
}

int helper_open(struct helper_pool *l, int pid, const struct mapping *m)
{
	size_t size = sizeof(struct open_request) + (l->by_name ? strlen(m->path) : 0) + 1;
	struct open_request *r = xcalloc(1, size);
	struct helper_answer a;
	int err, fd;

	r->pid = pid;
	r->by_name = l->by_name;
	r->m = *m;
	r->m.path = NULL;
	if (l->by_name)
		strcpy(r->path, m->path);
	err = helper_call(l, &(struct helper_request){
			pid, m->path, open_mapping, r, size, .fd = -1 }, &a);
	free(r);
	if (err)
		return err;
	err = *(int *)a.bytes;
	fd = a.fd;
	a.fd = -1;
	helper_drop(&a);
	if (err)
		return err;
	return fd >= 0 ? fd : -EMFILE;	/* this process has no more descriptors */
}

struct id_answer {
	unsigned long long dev, ino;
	int err;
};

static void identify_file(struct helper_job *job)
{
	struct id_answer id = { 0 };
	int fd = proc_reopen(job->fd);

	id.err = fd < 0 ? fd : 0;
	if (fd >= 0 && !proc_file_id(fd, &id.dev, &id.ino))
		id.err = -EIO;
	if (fd >= 0)
		close(fd);
	helper_put(job, &id, sizeof(id));
}

int helper_file_id(struct helper_pool *l, int fd, const char *path, unsigned long long *dev,
		 unsigned long long *ino)
{
	struct helper_answer a;
	int err = helper_call(l, &(struct helper_request){
			0, path, identify_file, path, strlen(path), .fd = fd }, &a);
	struct id_answer id;

	if (err)
		return err;
	memcpy(&id, a.bytes, sizeof(id));
	helper_drop(&a);
	*dev = id.dev;
	*ino = id.ino;
	return id.err;
}

struct inode_request {
	struct inode_reader *reader;	/* in the helper */
	int pid, fd;		/* fd: only to distinguish requests */
	unsigned long long start;
};

static void find_inode(struct helper_job *job)
{
	const struct inode_request *r = job->in;
	unsigned long long inode = 0;
	int fd;

	if (job->fd < 0) {
		inode = inode_of_mapping(r->reader, r->pid, r->start).inode;
	} else if ((fd = proc_reopen(job->fd)) >= 0) {
		inode = inode_of_file(r->reader, fd).inode;
		close(fd);
	}
	helper_put(job, &inode, sizeof(inode));
}

static unsigned long long ask_inode(struct helper_pool *l, int pid, unsigned long long start, int fd)
{
	const struct inode_request r = { &l->inodes, pid, fd, start };
	unsigned long long inode;
	struct helper_answer a;

	if (helper_call(l, &(struct helper_request){
			pid, "a mapping", find_inode, &r, sizeof(r), .fd = fd }, &a))
		return 0;
	memcpy(&inode, a.bytes, sizeof(inode));
	helper_drop(&a);
	return inode;
}

unsigned long long helper_inode(struct helper_pool *l, int pid, unsigned long long start)
{
	return ask_inode(l, pid, start, -1);
}

unsigned long long helper_inode_of_file(struct helper_pool *l, int pid, int fd)
{
	return ask_inode(l, pid, 0, fd);
}
