/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* System calls of bpftrace that the tool makes or refuses in its place: seccomp_unotify(2).
 *
 * perf_event_open(): bpftrace requests uprobes in the stand-in of each file (bt_files.h), and we open them
 * in the file itself, through the descriptor by which it was read.  So bpftrace neither reads another
 * user's file nor refers to one by name.
 *
 * openat(): to name functions on stacks, bpftrace opens, as root and by name, the files in /proc/PID/maps
 * and their debug files.  Without that list it opens none and prints addresses. */
#ifndef CUDABT_BT_TRAP_H
#define CUDABT_BT_TRAP_H
#include <stdbool.h>
#include "cudabt/bt_files.h"

struct bt_trap {
	int fd;			/* from bt_trap_receive() */
	const struct bt_files *files;
	const struct bt_file *standins;	/* of the first n files, in the script */
	int n;
	unsigned type;		/* of uprobes, for perf_event_open() */
	int requested;		/* uprobes so far */
	bool warned;		/* that functions are not named */
};

/* Exits 1 if the kernel has no uprobes.  More files may be added later. */
struct bt_trap bt_trap_init(const struct bt_files *files, const struct bt_file *standins, int n);

/* From now on each perf_event_open(), and with opens each openat(), of this process and its children
 * waits for an answer at a descriptor, which is sent over the socket.  Returns false with errno set on
 * failure. */
bool bt_trap_install(int socket, bool opens);

/* Receives that descriptor, which the caller closes; -1 if none was sent. */
int bt_trap_receive(int socket);

/* Waits at most ms for a call and answers it. */
void bt_trap_answer(struct bt_trap *t, int ms);

#endif
