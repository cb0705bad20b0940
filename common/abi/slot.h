/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* An element of an array of counters.  A probe takes it for a key (bpf/lib/slots.bpf.h), and user
 * space gives it back once it has read it. */
#ifndef ABI_SLOT_H
#define ABI_SLOT_H
#include <stdbool.h>

enum { SLOT_FREE, SLOT_TAKING /* its key is being written */, SLOT_TAKEN };

/* With --attach inject: lanes of one thread each, in arrays that have elements for each lane; the threads after the first share as
 * many as there may be CPUs. */
enum { SLOT_OWN_LANES = 16 };

/* Must be the first member of an element. */
struct slot {
	unsigned long long state;
};

/* For user space.  Return true if the element has a key. */
static inline bool slot_is_taken(const struct slot *s)
{
	return __atomic_load_n(&s->state, __ATOMIC_ACQUIRE) == SLOT_TAKEN;
}

/* For user space: call after clearing the element's counts.  A probe may then take it for another
 * key. */
static inline void slot_give_back(struct slot *s)
{
	__atomic_store_n(&s->state, SLOT_FREE, __ATOMIC_RELEASE);
}

#endif
