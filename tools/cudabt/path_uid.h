/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Who can make a path name another file. */
#ifndef PATH_UID_H
#define PATH_UID_H
#include <stdbool.h>
#include <sys/types.h>

/* True if a user who is neither root nor the caller can: *uid is the owner of a directory or link on
 * the way, or of the file, or, where all may write to it, 65534.  What cannot be looked at counts as
 * such.  Links are followed; at most 40, as the kernel does. */
bool path_uid(const char *path, uid_t *uid);

#endif
