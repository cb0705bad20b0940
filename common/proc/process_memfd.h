/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The memory that a library of ours in a process shares with tools: a memfd among the process's descriptors (abi/agent_gputime.h,
 * abi/agent_resident.h). */
#ifndef PROC_PROCESS_MEMFD_H
#define PROC_PROCESS_MEMFD_H

/* The number of the mount that every memfd is in; -1: not known. */
long long process_memfd_mount(void);

/* Opens a process's memfd of that name, which is its user's, has these bytes, and is sealed against shrinking and growing, not
 * against writing.  mount: process_memfd_mount().  Returns a descriptor, which the caller closes; -1: there is none. */
int process_memfd_open(int pid, long long mount, const char *name, long bytes);

#endif
