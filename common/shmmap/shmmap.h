/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The maps of BPF programs in memory that a tool shares with its probes in other programs: see abi/agent_inject.h.
 *
 * Compiled twice: for the tool, and freestanding for the library in the traced programs (agent/inject), where nothing
 * may be called that is not in this folder.  Nothing here allocates memory or blocks.  Whatever the memory has, no
 * function reads or writes outside it, or loops forever. */
#ifndef SHMMAP_SHMMAP_H
#define SHMMAP_SHMMAP_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/agent_inject.h"

struct shmmap_map {
	__u32 type, key_size, value_size, max_entries;
	__u32 stride;		/* bytes from one value of an array, a lane, or a thread to the next: a multiple of 8 */
	__u32 lanes;		/* values of an element: 1 except for per-CPU types */
	__u32 buckets;		/* of a hash: a power of two */
	__u32 index;		/* in struct shmmap */
	__u32 storage;		/* of type TASK_STORAGE: its bit in struct inject_thread's used */
	__u32 next;		/* of a hash: where shmmap_next() goes on */
	__u32 fixed;		/* not 0: read-only, and not shared */
	__u32 own;		/* of type TASK_STORAGE: where it is in a thread's own memory */
	char *at;		/* in this process */
	__u64 bytes;
	__u64 elements, values;	/* of a hash: where they are, from at.  Value l of element i of any type with lanes is
				 * the (i * lanes + l)th; values is 0 but in a hash */
	char name[INJECT_MAP_NAME];
};

/* One side's view.  Offsets and sizes are checked copies; only the targets of the pointers are shared. */
struct shmmap {
	char *base;
	const char *fixed;	/* the read-only part: sealed for programs, base for the tool */
	__u64 bytes;
	__u32 lanes, maps, functions;
	__u32 own;		/* bytes of a thread's own memory: its storages, each as it is in the shared memory */
	struct shmmap_map map[INJECT_MAPS];
	struct inject_head *head;
	struct inject_thread *threads;
	const struct inject_function *function;	/* fixed */
	struct inject_function *toggle;	/* shared: only INJECT_OFF counts there */
	const char *names;	/* fixed */
	__u64 names_bytes;
};

/* Sets stride, lanes and buckets from type, sizes and max_entries.  Returns the bytes that the map takes, in whole pages;
 * 0 if there is no such type or a size is out of range. */
__u64 shmmap_map_layout(struct shmmap_map *m, __u32 lanes);

/* Fills in s from the head at fixed; base is what is shared.  Returns false if this code did not write it, or an offset
 * is out of range. */
bool shmmap_view(struct shmmap *s, void *base, const void *fixed, __u64 bytes);

/* NULL if there is none of that name. */
struct shmmap_map *shmmap_find(struct shmmap *s, const char *name);

/* As the BPF helpers of these names, for arrays and hashes; lane: whose value of a per-CPU map.  0 or -errno: -ENOENT,
 * -EEXIST, -E2BIG (full), -EBUSY (the memory is corrupt, or others keep changing the bucket).  None takes a lock:
 * any may be called from a signal handler, and a thread that is killed in one blocks no other.  The result of lookup stays
 * valid memory, but may be another key's after a delete, as in the kernel. */
void *shmmap_lookup(const struct shmmap_map *m, const void *key, __u32 lane);
int shmmap_update(const struct shmmap_map *m, const void *key, const void *value, __u64 flags, __u32 lane);
int shmmap_delete(const struct shmmap_map *m, const void *key);

/* For the tool: all lanes' values one after the other, each as a multiple of 8 bytes, as bpf(2) has it. */
int shmmap_read(const struct shmmap_map *m, const void *key, void *values);

/* For the tool: copies the key after the one that this function gave last, the first if key is NULL, to next.  0 or -ENOENT.
 * From NULL on, each element is given at most once, whatever programs do, also if it is deleted meanwhile. */
int shmmap_next(struct shmmap_map *m, const void *key, void *next);

/* The ring buffer.  Records are 8-byte aligned; any thread reserves, the tool consumes.  A record whose thread was killed
 * before it was submitted is skipped once the tool's is_dead() reports that for self.  reserve: NULL if there is no room;
 * takes no lock, as above. */
void *shmmap_ring_reserve(const struct shmmap_map *m, __u64 size, __u32 self);
void shmmap_ring_submit(void *record);
void shmmap_ring_discard(void *record);
__u64 shmmap_ring_query(const struct shmmap_map *m, __u64 what);	/* BPF_RB_AVAIL_DATA, _RING_SIZE, _CONS_POS, _PROD_POS */

/* The tool: calls fn for each record that is there, in the order in which they were reserved, with a copy of its own
 * (of at most most bytes: larger ones are dropped), until fn returns less than 0.  is_dead(ctx, self): may a record
 * that is not submitted be skipped?  Returns the number of records, or what fn returned. */
struct shmmap_reader {
	const struct shmmap_map *map;
	__u64 at;		/* the tool's own position; the one in the memory is only for the writers */
	__u64 dropped;		/* invalid records, and those whose thread died */
	char *copy;		/* of most bytes: the caller's */
	__u32 most;
	int (*fn)(void *ctx, void *record, __u64 size);
	bool (*is_dead)(void *ctx, __u32 self);
	void *ctx;
};
long shmmap_ring_read(struct shmmap_reader *r);

/* Takes an element for the calling thread (see struct inject_thread; all storage zeroed); NULL if living threads have all.
 * is_dead (or NULL): may the element of this thread of the process be taken over?  It is called for asked threads before a
 * new element is taken; if there is none, for all.  left (or NULL) is called for an element that is taken over, with its
 * data. */
struct inject_thread *shmmap_thread_take(struct shmmap *s, __u32 pid, __u32 tid, int asked,
				     bool (*is_dead)(__u32 tid), void (*left)(struct inject_thread *t));

/* Takes the element of a thread that has ended, before which it had that tid and start_time: sets INJECT_LEFT.  Returns false
 * if another caller did, or another thread has the same tid and the element. */
bool shmmap_thread_claim(struct inject_thread *t, __u32 tid, __u64 since);
void shmmap_thread_free(struct shmmap *s, struct inject_thread *t);

/* The thread's element of a map of type TASK_STORAGE; NULL if it has none and make is false. */
void *shmmap_storage(const struct shmmap *s, const struct shmmap_map *m, struct inject_thread *t, bool make);

#endif
