/* SPDX-License-Identifier: GPL-2.0 */
/* The devices of a process's contexts and streams.  They are kept at its first thread, so that they go with
 * it, and no process takes from another. */
#ifndef DEVICE_HANDLES_BPF_H
#define DEVICE_HANDLES_BPF_H
#include <stdbool.h>
#include "lib/call.bpf.h"
#include "abi/device.h"

struct device_state device_state SEC(".data.device") = { .since = ~0ull, .generation = 1 };

/* A handle has its place in one set; where that is full, it takes the place of another, whose device is
 * then not known.  PyTorch makes up to 32 streams of three priorities on each of eight devices.  An element
 * has the handle, HANDLE_PRIMARY for a primary context, and the device as in abi/device.h. */
enum { HANDLE_SETS = 120, HANDLE_WAYS = 8, HANDLE_SHIFT = 8, HANDLE_PRIMARY = 128 };

struct device_handles {
	__u64 devices;		/* bits of those that it uses, but for those used by default */
	__u64 anew;		/* 1: its program began while it was traced, after exec */
	__u64 sets[HANDLE_SETS][HANDLE_WAYS];
};
_Static_assert(sizeof(struct device_handles) <= 8000, "too large for task storage");

struct {
	__uint(type, BPF_MAP_TYPE_TASK_STORAGE);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, int);
	__type(value, struct device_handles);
} device_handles SEC(".maps");

/* From a number that the program passes. */
static __always_inline __u32 device_number(__u64 number)
{
	return (__u32)number < DEVICES ? (__u32)number + 1 : 0;
}

static __always_inline __u64 device_bit(__u32 device)
{
	return device ? 1ull << ((device - 1) % DEVICES) : 0;
}

static __always_inline struct device_handles *handles_here(__u64 flags)
{
	struct task_struct *task = bpf_get_current_task_btf();

	return bpf_task_storage_get(&device_handles, task->group_leader, NULL, flags);
}

static __always_inline void handles_show(const __u64 *word)
{
	storage_show(&device_handles, bpf_get_current_task_btf()->group_leader, word, sizeof(*word));
}

static __always_inline __u64 handles_devices(void)
{
	struct device_handles *h = handles_here(0);

	return h ? h->devices : 0;
}

/* The process uses this device.  This and what follows is not static, so that the verifier looks at it
 * once. */
__noinline int handles_use(__u32 device)
{
	struct device_handles *h = device ? handles_here(BPF_LOCAL_STORAGE_GET_F_CREATE) : NULL;

	if (!h || h->devices & device_bit(device))
		return 0;
	__sync_fetch_and_or(&h->devices, device_bit(device));
	handles_show(&h->devices);
	__sync_fetch_and_add(&device_state.generation, 1);
	return 0;
}

/* Return true if the task's process, which has these handles, may have called CUDA before tracing began. */
static __always_inline bool handles_may_lack(const struct task_struct *task, const struct device_handles *h)
{
	return task->group_leader->start_time < device_state.since && !(h && h->anew);
}

/* Return true if this process may.  The time first: it costs less. */
static __always_inline bool handles_late(void)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	return task->group_leader->start_time < device_state.since && handles_may_lack(task, handles_here(0));
}

/* Call where exec has replaced the process's program, by its first thread from now on. */
static __always_inline void handles_dropped(void)
{
	struct task_struct *task = bpf_get_current_task_btf();
	struct device_handles *h;

	bpf_task_storage_delete(&device_handles, task);
	if (task->start_time >= device_state.since || device_state.since == ~0ull)
		return;
	h = handles_here(BPF_LOCAL_STORAGE_GET_F_CREATE);
	if (h)
		h->anew = 1;
}

static __always_inline __u64 *handle_set(struct device_handles *h, __u64 handle)
{
	return h->sets[bounded((handle >> 4 ^ handle >> 12) % HANDLE_SETS, HANDLE_SETS - 1)];
}

static __always_inline bool handle_is(__u64 element, __u64 handle)
{
	return element && element >> HANDLE_SHIFT == handle << HANDLE_SHIFT >> HANDLE_SHIFT;
}

/* What is known of a handle: the low bits of its element; 0 = nothing. */
static __always_inline int handle_find(struct device_handles *h, __u64 handle)
{
	__u64 *set;

	if (!h || !handle)
		return 0;
	set = handle_set(h, handle);
	for (int i = 0; i < HANDLE_WAYS; i++)
		if (handle_is(set[i], handle))
			return set[i] & ((1 << HANDLE_SHIFT) - 1);
	return 0;
}

__noinline int handle_known(__u64 handle)
{
	return handle_find(handles_here(0), handle);
}

static __always_inline __u32 handle_device(__u64 handle)
{
	return handle_known(handle) & (HANDLE_PRIMARY - 1);
}

static __always_inline bool handle_is_primary(__u64 handle)
{
	return handle_known(handle) & HANDLE_PRIMARY;
}

/* The index in the set where a handle is, or else may be put. */
static __always_inline __u32 handle_place(const __u64 *set, __u64 handle)
{
	for (__u32 i = 0; i < HANDLE_WAYS; i++)
		if (handle_is(set[i], handle))
			return i;
	for (__u32 i = 0; i < HANDLE_WAYS; i++)
		if (!set[i])
			return i;
	return bpf_get_prandom_u32() % HANDLE_WAYS;
}

/* The handle is of this device; 0: not known, or it is destroyed. */
__noinline int handle_note(__u64 handle, __u32 device, __u32 primary)
{
	struct device_handles *h = handles_here(device ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0);
	__u64 *set;
	__u32 at;

	if (!h || !handle || (!device && !handle_known(handle)))
		return 0;
	set = handle_set(h, handle);
	at = handle_place(set, handle);
	at = bounded(at, HANDLE_WAYS - 1);
	set[at] = device ? handle << HANDLE_SHIFT | (primary ? HANDLE_PRIMARY : 0) | device : 0;
	__sync_fetch_and_or(&h->devices, device_bit(device));
	handles_show(&set[at]);
	handles_show(&h->devices);
	__sync_fetch_and_add(&device_state.generation, 1);
	return 0;
}

#endif
