/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A process's mappings and the files behind them, by helper processes (see helper_pool.h).  The tool itself only ever
 * holds O_PATH descriptors of others' files: closing any other may wait for the file's owner. */
#ifndef PROC_HELPER_FILES_H
#define PROC_HELPER_FILES_H
#include "proc/helper_pool.h"
#include "proc/proc.h"

/* Calls fn for each executable, file-backed mapping of the process, in address order, until it
 * returns false.  m->id is set only if identify is.  Returns 0 or the error of helper_call(), or -ESRCH if
 * the process is gone, -E2BIG if it has too many mappings. */
int helper_mappings(struct helper_pool *l, int pid, bool identify,
		  bool (*fn)(void *ctx, const struct mapping *m), void *ctx);

/* Calls proc_hazards() there.  Returns its error or that of helper_call(). */
int helper_hazards(struct helper_pool *l, int pid, struct proc_hazards *h);

/* Opens the file behind a mapping with O_PATH.  Returns a descriptor, which the caller closes, or
 * the error of helper_call(), or -EINVAL if it is not a regular file, -ESTALE if another file is mapped
 * there by now, -EWOULDBLOCK if the file has a lease. */
int helper_open(struct helper_pool *l, int pid, const struct mapping *m);

/* Gets the device and inode number of an open file, which the tool's user named, as its mappings show
 * them.  Returns 0 or the error. */
int helper_file_id(struct helper_pool *l, int fd, const char *path, unsigned long long *dev,
		 unsigned long long *ino);

/* Return the kernel's inode of a mapping, or of the file behind an O_PATH descriptor: see inode.h. */
unsigned long long helper_inode(struct helper_pool *l, int pid, unsigned long long start);
unsigned long long helper_inode_of_file(struct helper_pool *l, int pid, int fd);

#endif
