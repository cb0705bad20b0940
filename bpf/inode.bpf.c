// SPDX-License-Identifier: GPL-2.0
/* Finds the inode behind a mapping: runs over the mappings of one process. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct inode;
struct file { struct inode *f_inode; };
struct vm_area_struct { unsigned long vm_start; struct file *vm_file; };
struct seq_file;
struct bpf_iter_meta { struct seq_file *seq; };
struct bpf_iter__task_vma { struct bpf_iter_meta *meta; struct vm_area_struct *vma; };
#pragma clang attribute pop

__u64 inode_start;	/* the mapping's start address */

SEC("iter/task_vma") int inode_of(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *vma = ctx->vma;
	__u64 inode;

	if (!vma || vma->vm_start != inode_start)
		return 0;
	inode = (__u64)BPF_CORE_READ(vma, vm_file, f_inode);
	bpf_seq_write(ctx->meta->seq, &inode, sizeof(inode));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
