/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/bpf.h>
#include "probe/uprobe_multi.h"

enum { UPROBE_MULTI_RETURN = 1 };

/* bpf_attr.link_create.uprobe_multi, which libbpf may not know yet */
struct link_create {
	__u32 prog_fd, session_fd, attach_type, flags;
	__aligned_u64 path, offsets, ref_ctr_offsets, cookies;
	__u32 cnt, multi_flags, pid, pad;
};

int uprobe_multi_link(int prog, int type, const char *path, const unsigned long long *offsets,
		      const unsigned long long *cookies, const unsigned long long *semaphores, int n, int pid,
		      bool ret)
{
	struct link_create attr = {
		.prog_fd = prog, .attach_type = type, .path = (unsigned long)path,
		.offsets = (unsigned long)offsets, .ref_ctr_offsets = (unsigned long)semaphores,
		.cookies = (unsigned long)cookies, .cnt = n,
		.multi_flags = ret ? UPROBE_MULTI_RETURN : 0, .pid = pid,
	};

	return syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}
