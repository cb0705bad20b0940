/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Identifies the kernel's inode behind a mapping, as an opaque number.  The kernel finds the probes
 * of a mapping by this inode, not by anything that user space can see.  On overlayfs, one inode of
 * a lower layer backs files with different numbers, in all containers that share the layer; and a
 * file that is copied up gets a new inode but keeps its number. */
#ifndef PROC_INODE_H
#define PROC_INODE_H
#include <stdbool.h>

/* The BPF program that finds inodes; starts zeroed, and is loaded at first use. */
struct inode_reader {
	struct inode_bpf *skel;	/* NULL once tried: not supported (before Linux 6.1) */
	bool tried;
};

struct inode_found {
	unsigned long long inode;	/* 0: there is no such mapping, or the kernel lacks support */
	unsigned long long magic;	/* of its file system: linux/magic.h */
};

/* Returns the inode of the mapping of process pid that begins at start. */
struct inode_found inode_of_mapping(struct inode_reader *r, int pid, unsigned long long start);

/* Returns the inode that a mapping of the open file has; valid while the file is open.  On overlayfs,
 * it is that of a lower or the upper layer. */
struct inode_found inode_of_file(struct inode_reader *r, int fd);

/* Unloads the program. */
void inode_reader_free(struct inode_reader *r);

#endif
