/* SPDX-License-Identifier: GPL-2.0 */
/* Array elements that are taken for a key: finding one costs a tenth of a hash map lookup.
 * abi/slot.h says how user space gives them back. */
#ifndef SLOTS_BPF_H
#define SLOTS_BPF_H
#include "lib/task.bpf.h"
#include "abi/slot.h"

/* Element number at of this CPU's n; NULL if there is none. */
static __always_inline void *slot_here(void *array, __u32 at, __u32 n)
{
	at += bpf_get_smp_processor_id() * n;
	return bpf_map_lookup_elem(array, &at);
}

/* Return true if the element is now the caller's: it must write the key and call slot_ready().  A
 * program can be interrupted by another thread's on the same CPU: hence atomic operations. */
static __always_inline bool slot_take(struct slot *s)
{
	return __sync_bool_compare_and_swap(&s->state, SLOT_FREE, SLOT_TAKING);
}

static __always_inline void slot_ready(struct slot *s)
{
	__sync_bool_compare_and_swap(&s->state, SLOT_TAKING, SLOT_TAKEN);
}

#endif
