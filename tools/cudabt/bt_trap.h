/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* System calls handed to another process: seccomp_unotify(2). */
#ifndef BT_TRAP_H
#define BT_TRAP_H
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* From now on each perf_event_open(), and with opens each openat(), of this process and its children
 * waits for an answer at a descriptor, which is sent over the socket.  Return false, with errno set,
 * if that fails. */
bool bt_trap_set(int socket, bool opens);

/* Receives that descriptor, which the caller closes; -1 if none was sent. */
int bt_trap_receive(int socket);

/* Waits for a call for at most ms; false if there is none. */
bool bt_trap_next(int trap, int ms, struct seccomp_notif *call);

/* Reads the caller's memory; returns the number of bytes up to where it ends, or -1. */
ssize_t bt_trap_read(int trap, const struct seccomp_notif *call, unsigned long long address, void *to,
		     size_t size);

/* The answers: do it yourself; it returns fd, for the caller to close, or fails with -fd. */
void bt_trap_continue(int trap, const struct seccomp_notif *call);
void bt_trap_answer(int trap, const struct seccomp_notif *call, int fd);

#endif
