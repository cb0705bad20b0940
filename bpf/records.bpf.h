/* SPDX-License-Identifier: GPL-2.0 */
/* The ring buffer that records go through.  To be included after cuda.bpf.h. */
#ifndef RECORDS_BPF_H
#define RECORDS_BPF_H

/* A tool may define its own size before: a power of two. */
#ifndef RECORDS_BYTES
#define RECORDS_BYTES (4 * 1024 * 1024)
#endif

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RECORDS_BYTES);
} events SEC(".maps");

/* The flags of a record.  Waking the reader at every one would double its cost: the reader
 * looks every 10 ms by itself, and is woken when much has piled up, or now. */
static __always_inline __u64 records_wakeup(bool now)
{
	if (now || bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > 64 * 1024)
		return BPF_RB_FORCE_WAKEUP;
	return BPF_RB_NO_WAKEUP;
}

#endif
