/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Who can make a path refer to another file. */
#ifndef PATH_UID_H
#define PATH_UID_H
#include <stdbool.h>
#include <sys/types.h>

/* Return true if a user who is neither root nor the caller can.  *uid is the owner of a directory
 * or link on the way, or of the file; 65534 if everyone may write to it.  What cannot be inspected
 * counts as writable by everyone.  Follows at most 40 links, as the kernel does. */
bool path_uid(const char *path, uid_t *uid);

#endif
