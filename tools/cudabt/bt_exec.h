/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What happens between fork() and bpftrace. */
#ifndef BT_EXEC_H
#define BT_EXEC_H
#include <stdbool.h>
#include <sys/types.h>

/* bpftrace refuses more probes than this unless told to accept them. */
enum { BT_EXEC_PROBES = 512 };

struct bt_exec {
	int script, output;	/* what it reads, where it prints */
	int trap;		/* the socket to which the trap goes: bt_trap.h */
	int probes;
	bool json;
	bool names;		/* of the functions on stacks: of any process, see bt_maps.h */
	pid_t parent;
};

/* Exits 1 and says how to get bpftrace if there is none. */
void bt_exec_find(void);

/* Call in the child: becomes bpftrace, which ends when the parent does. */
_Noreturn void bt_exec(const struct bt_exec *e);

#endif
