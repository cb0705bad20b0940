// SPDX-License-Identifier: GPL-2.0
/* Finds the inode behind a mapping and the type of its file system: runs over the mappings of one process. */
#include <linux/bpf.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct super_block { unsigned long s_magic; };
struct inode { struct super_block *i_sb; };
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
	struct inode *inode;
	__u64 found[2];

	if (!vma || vma->vm_start != inode_start)
		return 0;
	inode = BPF_CORE_READ(vma, vm_file, f_inode);
	found[0] = (__u64)inode;
	found[1] = BPF_CORE_READ(inode, i_sb, s_magic);
	bpf_seq_write(ctx->meta->seq, found, sizeof(found));
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
