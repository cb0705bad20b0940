/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reading other processes' memory, which may make that take as long as they like: behind a page
 * may be a userfaultfd, or a FUSE file system, of theirs. */
#ifndef VM_READ_H
#define VM_READ_H
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { VM_MAX_STUCK = 32 };

/* Which processes kept a reader waiting: those are not read again.  Starts zeroed; shared by all
 * that reads, as each process costs it half a second once. */
struct vm_reader {
	int stuck[VM_MAX_STUCK], nstuck;
};

/* process_vm_readv() of n places into one buffer of so many bytes: how many could be read, up to
 * the first place that could not; -1 if none.  After half a second too: then it says so, and that
 * process is not read again. */
ssize_t vm_read(struct vm_reader *v, int pid, const struct iovec *places, int n, void *buf,
		size_t size);

#endif
