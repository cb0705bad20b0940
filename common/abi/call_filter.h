/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Filter of the calls that are recorded: set by user space before the BPF programs are loaded. */
#ifndef ABI_CALL_FILTER_H
#define ABI_CALL_FILTER_H
#include <stdbool.h>

enum { FILTER_COMM = 16 };

struct filter {
	unsigned long long cgroup;	/* id of a cgroup of version 2, whose children count, too; 0 = any */
	unsigned int level;		/* its depth: 0 is the root */
	unsigned int uid;
	bool by_uid, by_comm;
	char comm[FILTER_COMM];		/* of the process: its first thread's */
};

#endif
