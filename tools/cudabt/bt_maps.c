/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "base/die.h"
#include "cudabt/bt_maps.h"
#include "cudabt/bt_trap.h"
#include "proc/users.h"

/* Returns the process whose list it is, 0 if it is none. */
static int process_of(const char *path)
{
	int pid, end = 0;

	return sscanf(path, "/proc/%d/maps%n", &pid, &end) == 1 && end && !path[end] ? pid : 0;
}

void bt_maps_answer(int trap, const struct seccomp_notif *call, bool *said)
{
	char path[64];
	ssize_t n = bt_trap_read(trap, call, call->data.args[1], path, sizeof(path) - 1);
	unsigned user;
	int pid;

	path[n > 0 ? n : 0] = 0;
	pid = process_of(path);
	user = pid ? proc_user(pid) : 0;
	if (!user || user == geteuid()) {
		bt_trap_continue(trap, call);
		return;
	}
	if (!*said && user != USER_UNKNOWN)
		warning(0, "addresses of process %d are not named: bpftrace would read files of user %u as "
			   "root; with -p it does", pid, user);
	*said |= user != USER_UNKNOWN;
	bt_trap_answer(trap, call, -EACCES);
}
