/* SPDX-License-Identifier: GPL-2.0 */
/* Arrays of elements that are taken for a key: finding one costs a tenth of a hash map lookup.  abi/slot.h has how user
 * space gives them back. */
#ifndef LIB_SLOTS_BPF_H
#define LIB_SLOTS_BPF_H
#include "lib/task.bpf.h"
#include "abi/slot.h"

/* Element number at of this CPU's n; NULL if there is none. */
static __always_inline void *slot_here(void *array, __u32 at, __u32 n)
{
	at += bpf_get_smp_processor_id() * n;
	return bpf_map_lookup_elem(array, &at);
}

/* Adds to a count; own: slot_is_own(), and it is in an element of an array here. */
static __always_inline void slot_add(bool own, __u64 *at, __u64 n)
{
	if (own)
		slot_add_own(at, n);
	else
		__sync_fetch_and_add(at, n);
}

/* Return true if the element is now the caller's: it must write the key and call slot_ready().  A
 * program can be interrupted by another thread's on the same CPU: hence atomic operations. */
static __always_inline bool slot_take(struct slot *s)
{
	/* most are taken: to look costs less than an atomic operation that fails */
	return slot_state(s) == SLOT_FREE && __sync_bool_compare_and_swap(&s->state, SLOT_FREE, SLOT_TAKING);
}

static __always_inline void slot_ready(struct slot *s)
{
	__sync_bool_compare_and_swap(&s->state, SLOT_TAKING, SLOT_TAKEN);
}

/* Defines the array. */
#define SLOT_ARRAY(name, n, element)						\
struct {									\
	__uint(type, BPF_MAP_TYPE_ARRAY);					\
	__uint(map_flags, BPF_F_MMAPABLE);					\
	__uint(max_entries, n);							\
	__type(key, __u32);							\
	__type(value, element);							\
} name SEC(".maps");

/* Defines the array for the first keys of each CPU; the tool makes it n elements per CPU.  element has slot and key;
 * place(key) is the number of the only one that the key may have, same(a, b) compares keys.
 * - name_own(): takes q for the key; call slot_ready() once it is complete.  NULL if it is taken, or q is NULL
 * - name_find(): the key's element; NULL if it has none
 * - name_at(): the same, taken if it is free; NULL if another key has it */
#define SLOT_TABLE(name, n, element, key_type, place, same)			\
SLOT_ARRAY(name, n, element)							\
static __always_inline element *name##_own(element *q, const key_type *key)	\
{										\
	if (!q || !slot_take(&q->slot))						\
		return NULL;							\
	q->key = *key;								\
	return q;								\
}										\
static __always_inline element *name##_find(const key_type *key)		\
{										\
	element *q = slot_here(&name, place(key), n);				\
										\
	return q && slot_state(&q->slot) == SLOT_TAKEN && same(&q->key, key) ? q : NULL;	\
}										\
static __always_inline element *name##_at(const key_type *key)			\
{										\
	element *q = slot_here(&name, place(key), n);				\
										\
	if (q && slot_state(&q->slot) == SLOT_TAKEN)				\
		return same(&q->key, key) ? q : NULL;				\
	q = name##_own(q, key);							\
	if (q)									\
		slot_ready(&q->slot);						\
	return q;								\
}

#endif
