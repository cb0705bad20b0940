/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reading other processes' memory, which may make that take as long as they like: behind a page
 * may be a userfaultfd, or a FUSE file system, of theirs. */
#ifndef READ_MEMORY_H
#define READ_MEMORY_H
#include <stddef.h>
#include <sys/types.h>
#include <sys/uio.h>

/* process_vm_readv() of n places into one buffer of so many bytes: how many could be read, up to
 * the first place that could not; -1 if none.  After half a second too: then it says so, and that
 * process is not read again. */
ssize_t vm_read(int pid, const struct iovec *places, int n, void *buf, size_t size);

#endif
