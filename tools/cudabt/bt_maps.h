/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Names for the functions on a stack.  For these bpftrace opens, as root and by name, the files that
 * /proc/PID/maps lists, and the debug files that they name.  Without that list it opens none, and
 * prints addresses. */
#ifndef BT_MAPS_H
#define BT_MAPS_H
#include <linux/seccomp.h>
#include <stdbool.h>

/* Answers openat() at a trap (bt_trap.h): refuses the list of a process that is not root's.  Says so
 * the first time; *said must be false before. */
void bt_maps_answer(int trap, const struct seccomp_notif *call, bool *said);

#endif
