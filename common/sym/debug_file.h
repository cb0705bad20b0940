/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Separate debug files, as distributions install them: /usr/lib/debug/.build-id/xx/yyyy.debug, where xxyyyy
 * is the build id.  For functions that a helper runs (see proc/helper_pool.h). */
#ifndef SYM_DEBUG_FILE_H
#define SYM_DEBUG_FILE_H
#include <stddef.h>

struct elf_debug;

/* Opens for reading the debug file that has the build id of d, which was read from fd: ours, or else one in the
 * root directory of the process.  That must be on the same file system as fd and belong to the same user or root,
 * as other processes that map the file get their names from it as well.  Returns a descriptor, which the caller
 * closes, or -ENOENT. */
int debug_file_open(int pid, int fd, const struct elf_debug *d);

/* Opens the file with what dwz(1) took out of several debug files; name and id are what one of those says of it.
 * The rest is as above; name must be in /usr/lib/debug/.dwz. */
int debug_file_open_alt(int pid, int fd, const char *name, const void *id, size_t size);

#endif
