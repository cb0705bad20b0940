/* SPDX-License-Identifier: GPL-2.0 */
/* The ring buffer for records. */
#ifndef RECORDS_BPF_H
#define RECORDS_BPF_H
#include "lib/task.bpf.h"

/* A tool may first define a size of its own: a power of two. */
#ifndef RECORDS_BYTES
#define RECORDS_BYTES (4 * 1024 * 1024)
#endif

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RECORDS_BYTES);
} events SEC(".maps");

enum { RECORDS_PILE = 64 * 1024, RECORDS_STEP = 512 };

/* Counted per CPU, each in its own cache line; a count lost to a race does not matter. */
struct { __u64 n, unused[7]; } records_made[64];

/* The flags for submitting a record.  Waking the reader for every one would double its cost, and
 * checking each time how much is unread is expensive, too: the reader's CPU writes that.  The
 * reader polls every 10 ms by itself; it is woken if a check now and then finds much unread, or if
 * now is set. */
static __always_inline __u64 records_wakeup(bool now)
{
	__u32 cpu = bpf_get_smp_processor_id() % 64;

	if (now)
		return BPF_RB_FORCE_WAKEUP;
	if (++records_made[cpu].n % RECORDS_STEP ||
	    bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) < RECORDS_PILE)
		return BPF_RB_NO_WAKEUP;
	return BPF_RB_FORCE_WAKEUP;
}

#endif
