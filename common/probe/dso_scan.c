/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>
#include "base/die.h"
#include "elf/elf.h"
#include "elf/usdt.h"
#include "probe/dso_scan.h"
#include "probe/probe_source.h"
#include "probe/probes.h"
#include "proc/helper_pool.h"
#include "proc/proc.h"

/* The source's functions and tables have the same addresses in the helper. */
struct scan_request {
	const struct probe_source *source;
	struct inode_reader *inodes;
	unsigned long long dev, ino;	/* only to tell requests apart */
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

int dso_scan(const struct probes *p, const struct dso_scan *file, int fd, struct elf_scan *scan,
	     struct dso_place *place)
{
	const struct scan_request r = {
		p->source, &p->helpers->inodes, file->dev, file->ino, p->usdt && p->source->find_usdt,
	};
	struct helper_answer bytes;
	int err = helper_call(p->helpers, file->pid, file->path, scan_file, &r, sizeof(r), fd, &bytes);
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
