/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Links of many uprobes at a time, as Linux 6.6 and later have them. */
#ifndef UPROBE_MULTI_H
#define UPROBE_MULTI_H
#include <stdbool.h>

/* enum bpf_attach_type of Linux 6.6 and 6.13 (include/uapi/linux/bpf.h), which may be newer than
 * the headers at hand. */
enum { TRACE_UPROBE_MULTI = 48, TRACE_UPROBE_SESSION = 57 };

/* bpf(BPF_LINK_CREATE): puts the program of this descriptor and attach type at n offsets of a
 * file, each with its cookie, in the process pid or in every process (0).  Returns the link's
 * descriptor, the caller's to close; -1 with errno set. */
int uprobe_multi_link(int prog, int type, const char *path, const unsigned long long *offsets,
		      const unsigned long long *cookies, int n, int pid, bool ret);

#endif
