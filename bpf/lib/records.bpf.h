/* SPDX-License-Identifier: GPL-2.0 */
/* The ring buffer that records go through. */
#ifndef RECORDS_BPF_H
#define RECORDS_BPF_H
#include "lib/task.bpf.h"

/* A tool may define its own size before: a power of two. */
#ifndef RECORDS_BYTES
#define RECORDS_BYTES (4 * 1024 * 1024)
#endif

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RECORDS_BYTES);
} events SEC(".maps");

enum { RECORDS_PILE = 64 * 1024, RECORDS_STEP = 512 };

/* Made by each processor, in a cache line of its own; if a race loses one it is no matter. */
struct { __u64 n, unused[7]; } records_made[64];

/* The flags of a record.  Waking the reader at every one would double its cost, and to look each
 * time how much the reader has left is dear, too: that is written by its processor.  The reader
 * looks every 10 ms by itself; it is woken when much has piled up, as seen now and then, or now. */
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
