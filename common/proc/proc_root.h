/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Files that a process is expected to have, by their names in its own root directory (its container's).
 * For functions that a helper runs (see helper_pool.h): each may wait for the file's owner forever. */
#ifndef PROC_PROC_ROOT_H
#define PROC_PROC_ROOT_H
#include <stdbool.h>

/* Opens a regular file in the root directory of a process with O_PATH.  path is relative to it: "tmp/x".  No
 * link leads out of that directory; if path itself is one, it is followed only if follow is true.  Returns a
 * descriptor, which the caller closes, or -errno. */
int proc_root_open(int pid, const char *path, bool follow);

/* The same for a path from /proc/PID/maps, which is relative to our root: where the process's is another directory, its path
 * comes first. */
int proc_root_open_mapped(int pid, const char *path);

/* The same for the file of a directory, "x" in "tmp", which is no link and on which nothing is mounted: who has a mount
 * namespace of its own can mount a file there that only others may read. */
int proc_root_open_in(int pid, const char *dir, const char *name);

/* Returns the number that the process has in its own PID namespace; 0 if it is gone. */
int proc_inner_pid(int pid);

#endif
