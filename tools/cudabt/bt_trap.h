/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* System calls handed to another process: seccomp_unotify(2). */
#ifndef BT_TRAP_H
#define BT_TRAP_H
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include "cudabt/bt_files.h"

struct bt_uprobes {
	const struct bt_files *files;
	const struct bt_file *standins;	/* what stands for the first n of them in the script */
	int n;
	unsigned type;		/* of a uprobe, as perf_event_open() has it */
	int asked;		/* for how many uprobes in them so far */
};

/* From now on each perf_event_open(), and with opens each openat(), of this process and its children
 * waits for an answer at a descriptor, which is sent over the socket.  Return false, with errno set,
 * if that fails. */
bool bt_trap_set(int socket, bool opens);

/* Receives that descriptor, which the caller closes; -1 if none was sent. */
int bt_trap_receive(int socket);

/* Waits for a call for at most ms; false if there is none. */
bool bt_trap_next(int trap, int ms, struct seccomp_notif *call);

/* Exits 1 if the kernel has no uprobes.  More files may be added later. */
struct bt_uprobes bt_uprobes_new(const struct bt_files *files, const struct bt_file *standins, int n);

/* Answers perf_event_open() at a trap (bt_trap.h). */
void bt_uprobes_answer(struct bt_uprobes *u, int trap, const struct seccomp_notif *call);

/* Answers openat() at a trap (bt_trap.h): refuses the list of a process that is not root's.  Says so
 * the first time; *said must be false before. */
void bt_maps_answer(int trap, const struct seccomp_notif *call, bool *said);

#endif
