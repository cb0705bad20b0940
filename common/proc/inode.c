/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "proc/inode.h"
#include "inode.skel.h"

static struct inode_bpf *load(struct inode_reader *r)
{
	if (!r->tried)
		r->skel = inode_bpf__open_and_load();
	r->tried = true;
	return r->skel;
}

struct inode_found inode_of_mapping(struct inode_reader *r, int pid, unsigned long long start)
{
	union bpf_iter_link_info info = { .task.tid = pid };
	LIBBPF_OPTS(bpf_iter_attach_opts, opts, .link_info = &info, .link_info_len = sizeof(info));
	struct inode_bpf *skel = load(r);
	struct inode_found found = { 0 };
	struct bpf_link *link;
	ssize_t n;
	int fd;

	if (!skel)
		return found;
	skel->bss->inode_start = start;
	link = bpf_program__attach_iter(skel->progs.inode_of, &opts);
	if (!link)
		return found;
	fd = bpf_iter_create(bpf_link__fd(link));
	/* EAGAIN: a million mappings were visited, and there are more */
	do
		n = fd < 0 ? 0 : read(fd, &found, sizeof(found));
	while (n < 0 && errno == EAGAIN);
	if (fd >= 0)
		close(fd);
	bpf_link__destroy(link);
	return n == sizeof(found) ? found : (struct inode_found){ 0 };
}

struct inode_found inode_of_file(struct inode_reader *r, int fd)
{
	void *at = mmap(NULL, 1, PROT_READ, MAP_PRIVATE, fd, 0);
	struct inode_found found = { 0 };

	if (at == MAP_FAILED)
		return found;
	found = inode_of_mapping(r, getpid(), (unsigned long)at);
	munmap(at, 1);
	return found;
}

void inode_reader_free(struct inode_reader *r)
{
	inode_bpf__destroy(r->skel);
	*r = (struct inode_reader){ 0 };
}
