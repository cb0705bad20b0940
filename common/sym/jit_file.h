/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Opens and reads a process's perf map, by a look.  Private to jit.c. */
#ifndef JIT_FILE_H
#define JIT_FILE_H

struct helper_pool;
struct perf_map;

/* What tells whether a file has changed; all zero: none was read. */
struct jit_file {
	unsigned long long dev, ino, size;
	long long modified, changed;	/* ns since the epoch */
};

/* Reads the file if it is not known: sets *file and *map, which the caller frees; NULL if there is no function in
 * it.  Returns 0, or the error of helper_call(), or -EALREADY if the file is as known says, or why it was not read: -ENOENT,
 * -EINVAL if it is not a regular file with one name, -EPERM if it belongs neither to the process's user nor to root. */
int jit_file_read(struct helper_pool *helpers, int pid, const struct jit_file *known, struct jit_file *file,
		  struct perf_map **map);

#endif
