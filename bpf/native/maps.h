/* SPDX-License-Identifier: GPL-2.0 */
/* Maps, task storage and the ring buffer, in memory that the tool shares: common/shm. */
#ifndef NATIVE_MAPS_H
#define NATIVE_MAPS_H
#include <linux/bpf.h>
#include "native/native.h"

/* NULL: the memory lacks it. */
static inline const struct shm_map *native_map(const void *map)
{
	return *(const struct shm_map *const *)map;
}

static inline void *bpf_map_lookup_elem(const void *map, const void *key)
{
	const struct shm_map *m = native_map(map);
	__u32 i;

	if (!LIKELY(m))
		return NULL;
	if (!LIKELY(m->type == BPF_MAP_TYPE_ARRAY))
		return shm_lookup(m, key, native.task.lane);
	i = *(const __u32 *)key;
	return LIKELY(i < m->max_entries) ? m->at + (__u64)i * m->stride : NULL;
}

static inline long bpf_map_update_elem(const void *map, const void *key, const void *value, __u64 flags)
{
	const struct shm_map *m = native_map(map);

	return m ? shm_update(m, key, value, flags, native.task.lane) : -1;
}

static inline long bpf_map_delete_elem(const void *map, const void *key)
{
	const struct shm_map *m = native_map(map);

	return m ? shm_delete(m, key) : -1;
}

/* Makes a task's storage, if make is set; that of another process's thread is in the shared memory. */
void *native_storage(const struct shm_map *m, struct task_struct *task, bool make);

static inline void *bpf_task_storage_get(const void *map, const struct task_struct *task, void *value, __u64 flags)
{
	const struct shm_map *m = native_map(map);

	(void)value;
	if (!LIKELY(m && task->thread))
		return NULL;
	if (LIKELY(task->used >> (m->storage & 31) & 1))
		return task->own + m->own;
	return native_storage(m, (struct task_struct *)task, flags & BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Copies what has changed of a thread's storage to where the tool reads it. */
static inline __attribute__((always_inline)) void native_show(const void *map, const struct task_struct *task, const void *at, __u32 size)
{
	const struct shm_map *m = native_map(map);

	if (LIKELY(m && task->own))
		native_copy(m->at + (__u64)task->index * m->stride + ((const char *)at - task->own - m->own), at, size);
}
#define storage_show native_show

/* Only where a process's program is replaced: nothing here outlives that. */
static inline long bpf_task_storage_delete(const void *map, const struct task_struct *task)
{
	(void)map;
	(void)task;
	return 0;
}

static inline void *bpf_ringbuf_reserve(const void *map, __u64 size, __u64 flags)
{
	(void)flags;
	native.ring = native_map(map);
	return native.ring ? shm_ring_reserve(native.ring, size, native.task.tgid) : NULL;
}

/* The flags say whether to wake the tool: it polls. */
static inline void bpf_ringbuf_submit(void *record, __u64 flags)
{
	(void)flags;
	shm_ring_submit(native.ring, record);
}

static inline void bpf_ringbuf_discard(void *record, __u64 flags)
{
	(void)flags;
	shm_ring_discard(native.ring, record);
}

static inline long bpf_ringbuf_output(const void *map, const void *data, __u64 size, __u64 flags)
{
	void *record = bpf_ringbuf_reserve(map, size, 0);

	if (!record)
		return -1;
	native_copy(record, data, size);
	bpf_ringbuf_submit(record, flags);
	return 0;
}

static inline __u64 bpf_ringbuf_query(const void *map, __u64 what)
{
	const struct shm_map *m = native_map(map);

	return m ? shm_ring_query(m, what) : 0;
}

#endif
