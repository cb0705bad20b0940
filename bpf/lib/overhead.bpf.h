/* SPDX-License-Identifier: GPL-2.0 */
/* How often each process hits a probe, and how long the programs take: for --max-overhead. */
#ifndef LIB_OVERHEAD_BPF_H
#define LIB_OVERHEAD_BPF_H
#include "abi/bpf_names.h"
#include "lib/lost.bpf.h"
#include "lib/shares.bpf.h"
#include "lib/task.bpf.h"
#include "abi/probe_overhead.h"
#include "abi/watch_event.h"

/* Set by the tool. */
const volatile bool overhead_wanted;

BPF_HASH(overhead, __u32, struct overhead_hits, OVERHEAD_PROCESSES)

/* Of overhead; user space gives back what it deletes. */
struct shares overhead_shares SEC(".data.overhead_shares");

BPF_HASH(launch_gates, __u32, __u8, OVERHEAD_OWN)

/* Set by the tool at any time. */
volatile struct launch_gate launch_gate SEC(SECTION_LAUNCH_GATE);

/* As launch_link_counts(), by the gate of the process; own: the link is its own. */
COLD_IN_USER bool launch_gate_counts(bool own, bool returns)
{
	__u32 pid = thread_pid(), how;
	const __u8 *gate = bpf_map_lookup_elem(&launch_gates, &pid);

	how = gate ? *gate : 0;
	if (own != !!(how & LAUNCH_OWN))
		return false;
	return !returns || (!(how & LAUNCH_CLOSED) && !launch_gate.closed);
}

/* Return true if the program is to count a launch for this link.  While links are exchanged, a process has two.  returns: its
 * return is wanted. */
static __always_inline bool launch_link_counts(void *ctx, bool returns)
{
	const bool own = bpf_get_attach_cookie(ctx) & COOKIE_OWN;

	return (!own && !launch_gate.gated && !launch_gate.closed) || launch_gate_counts(own, returns);
}

/* Per thread: pending event count and start of the timed program (0: none).  Not on the stack: callers use most of the
 * 512 bytes. */
struct overhead_thread {
	__u32 hits, entries;
	__u64 began;
};

/* A program may be interrupted: longer runs are none of its own. */
enum { OVERHEAD_RUN_NS = 100000 };

/* Counts the hits of a thread up to the one that began then. */
GLOBAL_SUBPROG int overhead_count(__u64 began, __u32 entries)
{
	__u64 ns = bpf_ktime_get_ns() - began;
	__u32 pid = thread_pid();
	struct overhead_hits *h = bpf_map_lookup_elem(&overhead, &pid), none = {};

	if (!h) {
		share_add(&overhead, &pid, &none, &none.share, &overhead_shares, OVERHEAD_PROCESSES);
		h = bpf_map_lookup_elem(&overhead, &pid);
	}
	if (!h) {
		lose(LOST_GROUP);
		return 0;
	}
	__sync_fetch_and_add(&h->hits, OVERHEAD_STEP);
	__sync_fetch_and_add(&h->ns, ns < OVERHEAD_RUN_NS ? ns : OVERHEAD_RUN_NS);
	__sync_fetch_and_add(&h->entries, entries);
	return 0;
}

/* Call where a program begins. */
static __always_inline void overhead_begins(struct overhead_thread *t)
{
	if (!overhead_wanted || ++t->hits < OVERHEAD_STEP)
		return;
	t->hits = 0;
	t->began = bpf_ktime_get_ns();
}

/* Call where it ends. */
static __always_inline void overhead_ends(struct overhead_thread *t)
{
	if (!overhead_wanted || !t->began)
		return;
	overhead_count(t->began, t->entries);
	t->began = t->entries = 0;
}

#endif
