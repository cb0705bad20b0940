/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads other processes' memory.  They can make that take as long as they like: a page may be
 * backed by their own userfaultfd or FUSE file system. */
#ifndef VM_READ_H
#define VM_READ_H
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

enum { VM_MAX_STUCK = 32 };

/* Processes that blocked a reader: they are not read again.  Starts zeroed; all readers share it,
 * so that each such process costs half a second only once. */
struct vm_reader {
	int stuck[VM_MAX_STUCK], nstuck;
};

/* Reads n places with process_vm_readv() into one buffer of size bytes.  Returns how many bytes it
 * read, up to the first place that cannot be read; -1 if none.  Times out after half a second: then
 * warns, returns -1, and never reads that process again. */
ssize_t vm_read(struct vm_reader *v, int pid, const struct iovec *places, int n, void *buf,
		size_t size);

#endif
