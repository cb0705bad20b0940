/* SPDX-License-Identifier: GPL-2.0 */
/* Maps, task storage and the ring buffer, in memory that the tool shares: common/shmmap. */
#ifndef INJECT_MAPS_H
#define INJECT_MAPS_H
#include <linux/bpf.h>
#include "userspace/task.h"

/* NULL: the memory lacks it. */
static inline const struct shmmap_map *inject_map_of(const void *map)
{
	return *(const struct shmmap_map *const *)map;
}

static inline void *bpf_map_lookup_elem(const void *map, const void *key)
{
	const struct shmmap_map *m = inject_map_of(map);
	__u32 i;

	if (!LIKELY(m))
		return NULL;
	if (!LIKELY(m->type == BPF_MAP_TYPE_ARRAY))
		return shmmap_lookup(m, key, inject_local.task.lane);
	i = *(const __u32 *)key;
	return LIKELY(i < m->max_entries) ? m->at + (__u64)i * m->stride : NULL;
}

static inline long bpf_map_update_elem(const void *map, const void *key, const void *value, __u64 flags)
{
	const struct shmmap_map *m = inject_map_of(map);

	return m ? shmmap_update(m, key, value, flags, inject_local.task.lane) : -1;
}

static inline long bpf_map_delete_elem(const void *map, const void *key)
{
	const struct shmmap_map *m = inject_map_of(map);

	return m ? shmmap_delete(m, key) : -1;
}

/* Makes a task's storage, if make is set; that of another process's thread is in the shared memory. */
void *inject_storage(const struct shmmap_map *m, struct task_struct *task, bool make);

static inline void *bpf_task_storage_get(const void *map, const struct task_struct *task, void *value, __u64 flags)
{
	const struct shmmap_map *m = inject_map_of(map);

	(void)value;
	if (!LIKELY(m && task->thread))
		return NULL;
	if (LIKELY(task->used >> (m->storage & 31) & 1))
		return task->own + m->own;
	return inject_storage(m, (struct task_struct *)task, flags & BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Copies what has changed of a thread's storage to where the tool reads it. */
static inline __attribute__((always_inline)) void inject_show(const void *map, const struct task_struct *task, const void *at, __u32 size)
{
	const struct shmmap_map *m = inject_map_of(map);

	if (LIKELY(m && task->own))
		inject_copy(m->at + (__u64)task->index * m->stride + ((const char *)at - task->own - m->own), at, size);
}
#define storage_show inject_show

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
	inject_local.ring = inject_map_of(map);
	return inject_local.ring ? shmmap_ring_reserve(inject_local.ring, size, inject_local.task.tgid) : NULL;
}

/* The flags say whether to wake the tool: it polls. */
static inline void bpf_ringbuf_submit(void *record, __u64 flags)
{
	(void)flags;
	shmmap_ring_submit(inject_local.ring, record);
}

static inline void bpf_ringbuf_discard(void *record, __u64 flags)
{
	(void)flags;
	shmmap_ring_discard(inject_local.ring, record);
}

static inline long bpf_ringbuf_output(const void *map, const void *data, __u64 size, __u64 flags)
{
	void *record = bpf_ringbuf_reserve(map, size, 0);

	if (!record)
		return -1;
	inject_copy(record, data, size);
	bpf_ringbuf_submit(record, flags);
	return 0;
}

static inline __u64 bpf_ringbuf_query(const void *map, __u64 what)
{
	const struct shmmap_map *m = inject_map_of(map);

	return m ? shmmap_ring_query(m, what) : 0;
}

#endif
