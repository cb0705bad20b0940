/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The uprobes of bpftrace.  It asks for them in the stand-in of each file (bt_standin.h), and we
 * open them in the file itself, through the descriptor by which it was read.  So bpftrace neither
 * reads a file of another user's nor refers to one by a name. */
#ifndef BT_UPROBES_H
#define BT_UPROBES_H
#include <linux/seccomp.h>
#include "cudabt/bt_files.h"

struct bt_uprobes {
	const struct bt_files *files;
	const struct bt_file *standins;	/* what stands for the first n of them in the script */
	int n;
	unsigned type;		/* of a uprobe, as perf_event_open() has it */
	int asked;		/* for how many uprobes in them so far */
};

/* Exits 1 if the kernel has no uprobes.  More files may be added later. */
struct bt_uprobes bt_uprobes_new(const struct bt_files *files, const struct bt_file *standins, int n);

/* Answers perf_event_open() at a trap (bt_trap.h). */
void bt_uprobes_answer(struct bt_uprobes *u, int trap, const struct seccomp_notif *call);

#endif
