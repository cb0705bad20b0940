/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which inode the kernel has behind a mapping, as a number that means nothing else: by it, and
 * by nothing that user space is told, it finds the probes of a mapping.  On overlayfs one inode
 * of a lower layer is behind files with different numbers, in all containers that share the
 * layer; and a file that is copied up has another inode than it had, with the same number. */
#ifndef INODE_H
#define INODE_H
#include <stdbool.h>

/* The program that tells it; starts zeroed, and is loaded when it is asked first. */
struct inode_reader {
	struct inode_bpf *skel;	/* NULL once tried: the kernel has none (before Linux 6.1) */
	bool tried;
};

/* Of the mapping of process pid that begins at start; 0 if it cannot be told: there is no such
 * mapping, or the kernel cannot. */
unsigned long long inode_of_mapping(struct inode_reader *r, int pid, unsigned long long start);

/* Of an open file, were it mapped; valid while it is open. */
unsigned long long inode_of_file(struct inode_reader *r, int fd);

/* Unloads the program. */
void inode_reader_free(struct inode_reader *r);

#endif
