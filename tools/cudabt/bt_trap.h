/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* perf_event_open(2), handed to another process: seccomp_unotify(2). */
#ifndef BT_TRAP_H
#define BT_TRAP_H
#include <linux/seccomp.h>
#include <stdbool.h>

/* From now on each perf_event_open() of this process and its children waits for an answer at a
 * descriptor, which is sent over the socket.  Return false, with errno set, if that fails. */
bool bt_trap_set(int socket);

/* Receives that descriptor, which the caller closes; -1 if none was sent. */
int bt_trap_receive(int socket);

/* Waits for a call for at most ms; false if there is none. */
bool bt_trap_next(int trap, int ms, struct seccomp_notif *call);

/* Return true if the call is still being made: its thread is still the one that made it. */
bool bt_trap_is_made(int trap, const struct seccomp_notif *call);

/* The answers: do it yourself; it returns fd, for the caller to close, or fails with -fd. */
void bt_trap_continue(int trap, const struct seccomp_notif *call);
void bt_trap_answer(int trap, const struct seccomp_notif *call, int fd);

#endif
