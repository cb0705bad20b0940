/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>
#include <linux/magic.h>
#include "base/die.h"
#include "elf/elf.h"
#include "probe/dso_scan.h"
#include "probe/probe_source.h"
#include "probe/probes.h"
#include "proc/looks.h"
#include "proc/proc.h"

/* The source's functions and tables have the same addresses in the helper. */
struct request {
	const struct probe_source *source;
};

struct answer {
	int err;
	bool layered;
	struct elf_scan scan;	/* its probes follow; error is static */
};

static bool is_layered(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

static void scan_file(struct helper_job *job)
{
	const struct request *r = job->in;
	struct answer a = { 0 };
	int fd = proc_reopen(job->fd);

	if (fd < 0) {
		a.err = fd;
	} else {
		elf_scan(fd, r->source->find, r->source->ctx, &a.scan);
		a.layered = is_layered(fd);
		close(fd);
	}
	helper_put(job, &a, sizeof(a));
	helper_put(job, a.scan.probes, a.scan.n * sizeof(*a.scan.probes));
	free(a.scan.probes);
}

int dso_scan(const struct probes *p, int pid, const char *path, int fd, struct elf_scan *scan,
	     bool *layered)
{
	const struct request r = { p->source };
	struct helper_answer bytes;
	int err = look(p->looks, pid, path, scan_file, &r, sizeof(r), fd, &bytes);
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
	*layered = a.layered;
	helper_drop(&bytes);
	return a.err;
}
