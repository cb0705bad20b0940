/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Takes privileges from a process of ours, for good: one that handles untrusted data, or that becomes the command. */
#ifndef PROC_CONFINE_H
#define PROC_CONFINE_H
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Changes the real, effective and saved ids.  Returns false with errno set, also if one did not change. */
bool confine_user(uid_t uid, gid_t gid);

/* Drops the permitted, effective, inheritable and ambient capabilities.  Returns false with errno set. */
bool confine_capabilities(void);

/* Makes this process, which must have one thread, one without privileges: root becomes a user that no other process has;
 * all five sets of capabilities become empty (the bounding set needs CAP_SETPCAP); there are no new privileges, no core
 * files and no tracers of the same user.  The parent's end sends no signal any more: prctl(2), PR_SET_PDEATHSIG.
 * Returns NULL, or with errno set what the process cannot do. */
const char *confine_rights(void);

/* Allows this process, which must have one thread, only these system calls, and mmap() of memory that is not executable:
 * any other kills it.  Call after confine_rights().  Returns false with errno set. */
bool confine_calls(const int *allowed, size_t n);

#endif
