/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Links that hold many uprobes each (Linux 6.6 and later). */
#ifndef UPROBE_MULTI_H
#define UPROBE_MULTI_H
#include <stdbool.h>

/* enum bpf_attach_type of Linux 6.6 and 6.13 (include/uapi/linux/bpf.h), which may be newer than
 * the installed headers. */
enum { TRACE_UPROBE_MULTI = 48, TRACE_UPROBE_SESSION = 57 };

/* bpf(BPF_LINK_CREATE): attaches the program with this descriptor and attach type at n offsets of
 * a file, each with its cookie and the offset of its semaphore (0: none; NULL: nobody has one), in process pid
 * or in every process (0).  Returns the link's descriptor, which the caller closes, or -1 with errno set. */
int uprobe_multi_link(int prog, int type, const char *path, const unsigned long long *offsets,
		      const unsigned long long *cookies, const unsigned long long *semaphores, int n, int pid,
		      bool ret);

#endif
