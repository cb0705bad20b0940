/* SPDX-License-Identifier: GPL-2.0 */
/* The processes of the command of -c, for the watcher and for the links that they share. */
#ifndef LIB_WATCHED_BPF_H
#define LIB_WATCHED_BPF_H
#include "lib/task.bpf.h"
#include "abi/watch_event.h"

/* The command and its descendants, by process id, with WATCH_OWN and WATCH_SHARED.  The watcher uses the tool's map. */
BPF_HASH(watched, __u32, __u8, 65536)

/* Return true if the program is to run here for a link with this cookie: a shared one is in every
 * process that has mapped the file, also in untraced ones, and in those with links of their own. */
static __always_inline bool shared_link_counts(__u64 cookie)
{
	__u32 pid = bpf_get_current_pid_tgid() >> 32;
	__u8 *how;

	if (!(cookie & COOKIE_SHARED))
		return true;
	how = bpf_map_lookup_elem(&watched, &pid);
	return how && !(*how & WATCH_OWN);
}

#endif
