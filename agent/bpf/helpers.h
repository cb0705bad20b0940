/* SPDX-License-Identifier: GPL-2.0 */
/* The helpers of the kernel that bpf/lib calls, and the macros of libbpf's headers, for programs that run in the traced
 * process: see agent/bpf/task.h. */
#ifndef AGENT_BPF_HELPERS_H
#define AGENT_BPF_HELPERS_H
#include <stddef.h>
#include <linux/bpf.h>
#include "agent/bpf/task.h"
#include "machine/regs_user.h"

#define SEC(name) __attribute__((section(name), used))
#undef __always_inline	/* of <linux/stddef.h> */
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define __weak __attribute__((weak))
#define barrier() __asm__ volatile("" ::: "memory")

/* As in machine/order.bpf.h. */
#define ordered() __atomic_thread_fence(__ATOMIC_ACQ_REL)
#define write_ordered(at, value)						\
do {										\
	ordered();								\
	*(volatile __u64 *)(at) = (value);					\
	ordered();								\
} while (0)

#define barrier_var(var) __asm__ volatile("" : "+r"(var))

/* A map's variable is a struct of pointers, of which the first is overwritten with its struct shmmap_map *. */
#define __uint(name, val) int (*name)[val]
#define __type(name, val) __typeof__(val) *name

#define BPF_CORE_READ(from, field) ((from)->field)
#define bpf_core_enum_value_exists(type, value) 1

/* ---- maps, task storage and the ring buffer, in memory that the tool shares: common/shmmap */

/* NULL: it is not in the memory. */
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
		return shmmap_lookup(m, key, inject_self.task.lane);
	i = *(const __u32 *)key;
	return LIKELY(i < m->max_entries) ? m->at + (__u64)i * m->stride : NULL;
}

static inline long bpf_map_update_elem(const void *map, const void *key, const void *value, __u64 flags)
{
	const struct shmmap_map *m = inject_map_of(map);

	return m ? shmmap_update(m, key, value, flags, inject_self.task.lane) : -1;
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
	/* another thread may have made the storage of the process */
	if (LIKELY(__atomic_load_n(&task->used, __ATOMIC_ACQUIRE) >> (m->storage & 31) & 1))
		return task->own + m->own;
	return inject_storage(m, (struct task_struct *)task, flags & BPF_LOCAL_STORAGE_GET_F_CREATE);
}

/* Where the tool reads a part of a thread's storage; NULL if it has none of its own. */
static inline __attribute__((always_inline)) void *inject_shown(const void *map, const struct task_struct *task, const void *at)
{
	const struct shmmap_map *m = inject_map_of(map);

	if (!LIKELY(m && task->own))
		return NULL;
	return m->at + (__u64)task->index * m->stride + ((const char *)at - task->own - m->own);
}

/* Copies a changed part there. */
static inline __attribute__((always_inline)) void inject_show(const void *map, const struct task_struct *task,
								 const void *at, const __u32 size)
{
	void *shown = inject_shown(map, task, at);

	if (LIKELY(shown))
		inject_copy_words(shown, at, size);
}

/* Called only where a process's program is replaced: nothing here outlives that. */
static inline long bpf_task_storage_delete(const void *map, const struct task_struct *task)
{
	(void)map;
	(void)task;
	return 0;
}

static inline void *bpf_ringbuf_reserve(const void *map, __u64 size, __u64 flags)
{
	const struct shmmap_map *m = inject_map_of(map);

	(void)flags;
	return m ? shmmap_ring_reserve(m, size, inject_self.task.tgid) : NULL;
}

/* The flags are for waking the tool: here it polls. */
static inline void bpf_ringbuf_submit(void *record, __u64 flags)
{
	(void)flags;
	shmmap_ring_submit(record);
}

static inline void bpf_ringbuf_discard(void *record, __u64 flags)
{
	(void)flags;
	shmmap_ring_discard(record);
}

enum { CACHE_LINE = 64, HEAD_LINES = 4 };

static inline long bpf_ringbuf_output(const void *map, const void *data, __u64 size, __u64 flags)
{
	void *record = bpf_ringbuf_reserve(map, size, 0);

	if (!record)
		return -1;
	inject_copy(record, data, size);
	bpf_ringbuf_submit(record, flags);
	/* the tool or another thread has written there last: the next record will not wait for its head */
	for (int line = 0; line < HEAD_LINES; line++)
		prefetch_write((char *)record + size + line * CACHE_LINE);
	return 0;
}

static inline __u64 bpf_ringbuf_query(const void *map, __u64 what)
{
	const struct shmmap_map *m = inject_map_of(map);

	return m ? shmmap_ring_query(m, what) : 0;
}

/* ---- the process's own memory, at any address: no signal if nothing is mapped there */

/* Return true if these bytes can be read. */
bool inject_readable(__u64 at, __u64 n);

/* Return true if these few bytes are in memory: if not, the stack was never written there. */
bool inject_on_stack(__u64 at, __u64 n);

long inject_read_string(char *to, __u32 size, __u64 at);
long inject_stack(const machine_regs *ctx, __u64 *frames, __u32 size, __u64 flags);

/* Fails with all bytes 0, as the kernel's. */
static inline long bpf_probe_read_user(void *to, __u32 size, const void *from)
{
	__u64 at = (__u64)from;

	if (LIKELY(at >= inject_self.stack && at < inject_self.stack_end && size <= inject_self.stack_end - at) ||
	    inject_readable(at, size)) {
		inject_copy(to, from, size);
		return 0;
	}
	__builtin_memset(to, 0, size);
	return -14;	/* EFAULT */
}

static inline long bpf_probe_read_user_str(void *to, __u32 size, const void *from)
{
	return inject_read_string(to, size, (__u64)from);
}

/* The registers. */
static inline long bpf_probe_read_kernel(void *to, __u32 size, const void *from)
{
	inject_copy(to, from, size);
	return 0;
}

static inline long bpf_get_stack(const void *ctx, void *frames, __u32 size, __u64 flags)
{
	return inject_stack(ctx, frames, size, flags);
}

/* ---- time, ids and numbers */

static inline __u64 bpf_ktime_get_ns(void)
{
	return inject_self.now = inject_clock_ns();
}

/* They are only compared. */
static inline __u64 bpf_jiffies64(void)
{
	return inject_now.shm->head->ticks;
}

static inline __u32 bpf_get_prandom_u32(void)
{
	return inject_random();
}

static inline struct task_struct *bpf_get_current_task_btf(void)
{
	return &inject_self.task;
}

static inline __u64 bpf_get_current_task(void)
{
	return (__u64)&inject_self.task;
}

static inline __u64 bpf_get_current_pid_tgid(void)
{
	return (__u64)inject_self.task.tgid << 32 | (__u32)inject_self.task.pid;
}

static inline __u64 bpf_get_current_uid_gid(void)
{
	return inject_self.task.uid;
}

static inline long bpf_get_current_comm(void *to, __u32 size)
{
	inject_copy(to, inject_comm(), size < 16 ? size : 16);
	return 0;
}

static inline __u32 bpf_get_smp_processor_id(void)
{
	return inject_self.task.slots;
}

static inline __u64 bpf_get_attach_cookie(const void *ctx)
{
	(void)ctx;
	return inject_now.cookie;
}

static inline __u64 bpf_get_func_ip(const void *ctx)
{
	(void)ctx;
	return inject_now.func_ip;
}

#define bpf_loop(n, fn, ctx, flags)						\
do {										\
	for (__u32 inject_i = 0; inject_i < (n) && !fn(inject_i, ctx); inject_i++)	\
		;								\
} while (0)

#endif
