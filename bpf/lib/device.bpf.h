/* SPDX-License-Identifier: GPL-2.0 */
/* The device of a call: the one that its thread has chosen, by cudaSetDevice() or its current context, or that of the
 * stream in its arguments.  A thread that has chosen none is on device 0: reliable only if it was seen from its first
 * call on. */
#ifndef LIB_DEVICE_BPF_H
#define LIB_DEVICE_BPF_H
#include <stdbool.h>
#include "abi/bpf_names.h"
#include "lib/call.bpf.h"
#include "abi/device.h"

/* ---- the devices of a process's contexts and streams: in the storage of its first thread, which ends with the process, so
 * that no process uses up another's room */

struct device_state device_state SEC(SECTION_DEVICE) = { .since = ~0ull, .generation = 1 };

/* A handle belongs to one set; if that is full, it replaces another, whose device is
 * then unknown.  PyTorch makes up to 32 streams of three priorities on each of eight devices.  An element
 * has the handle, HANDLE_PRIMARY for a primary context, and the device as in abi/device.h. */
enum { HANDLE_SETS = 120, HANDLE_WAYS = 8, HANDLE_SHIFT = 8, HANDLE_PRIMARY = 128 };

/* In place of the device: a pool of the host, and one of another process. */
enum { HANDLE_HOST = DEVICES + 1, HANDLE_FOREIGN };

struct device_handles {
	__u64 devices;		/* a bit for each device in use, except by default */
	__u64 anew;		/* 1: the program began under tracing, after exec */
	__u64 sets[HANDLE_SETS][HANDLE_WAYS];
	__u32 refs[DEVICES];	/* to each primary context, as far as they were seen */
};

BPF_TASK_STORAGE(device_handles, struct device_handles)

/* number comes from the program. */
static __always_inline __u32 device_number(__u64 number)
{
	return (__u32)number < DEVICES ? (__u32)number + 1 : 0;
}

/* The same where cudaCpuDeviceId, which is -1, may be passed: the host. */
static __always_inline __u32 device_passed(__u64 number)
{
	return (__u32)number == ~0u ? DEVICE_NONE : device_number(number);
}

static __always_inline __u64 device_bit(__u32 device)
{
	return device - 1 < DEVICES ? 1ull << (device - 1) : 0;
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

/* Notes that the process uses this device. */
GLOBAL_SUBPROG int handles_use(__u32 device)
{
	struct device_handles *h = device ? handles_here(BPF_LOCAL_STORAGE_GET_F_CREATE) : NULL;

	if (!h || h->devices & device_bit(device))
		return 0;
	__sync_fetch_and_or(&h->devices, device_bit(device));
	handles_show(&h->devices);
	ordered();	/* see device_refresh() */
	__sync_fetch_and_add(&device_state.generation, 1);
	return 0;
}

/* Return true if the task's process, which has these handles, may have called CUDA before tracing began. */
static __always_inline bool handles_may_lack(const struct task_struct *task, const struct device_handles *h)
{
	return task->group_leader->start_time < device_state.since && !(h && h->anew);
}

/* Return true if this process may.  The time first: it costs less.  Verified once, because each load of a pointer from a task
 * makes the verifier search the types of the kernel. */
GLOBAL_SUBPROG int handles_late(void)
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

/* The low bits of a handle's element; 0 = unknown. */
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

GLOBAL_SUBPROG int handle_known(__u64 handle)
{
	return handle_find(handles_here(0), handle);
}

static __always_inline __u32 handle_device(__u64 handle)
{
	return handle_known(handle) & (HANDLE_PRIMARY - 1);
}

/* The device of a cudaMemLocation or CUmemLocation, by its type and id in one word; DEVICE_NONE: of the host. */
static __always_inline __u32 device_of_location(__u64 location)
{
	switch ((__u32)location) {
	case 1:		/* cudaMemLocationTypeDevice */
		return device_number(location >> 32);
	case 2: case 3: case 4:	/* …Host, …HostNuma, …HostNumaCurrent */
		return DEVICE_NONE;
	case 6:		/* …DeviceLocalityDomain: the device is one byte of id */
		return device_number(location >> 32 & 0xff);
	}
	return 0;
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

/* Notes the device of a handle; 0: unknown, or the handle is destroyed. */
GLOBAL_SUBPROG int handle_note(__u64 handle, __u32 device, __u32 primary)
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
	ordered();
	__sync_fetch_and_add(&device_state.generation, 1);
	return 0;
}

/* The primary context of a device was retained or released. */
GLOBAL_SUBPROG int handles_count(__u32 device, bool retained)
{
	struct device_handles *h = device_bit(device) ? handles_here(retained ? BPF_LOCAL_STORAGE_GET_F_CREATE : 0) : NULL;
	__u32 *refs;

	if (!h)
		return 0;
	refs = &h->refs[bounded(device - 1, DEVICES - 1)];
	if (retained)
		__sync_fetch_and_add(refs, 1);
	else if (*refs)
		__sync_fetch_and_add(refs, -1);
	return 0;
}

/* Return true if a release of the primary context of a device that succeeds is the last: it is reset.  That is known only of a
 * program that has been seen from its first call on. */
static __always_inline bool handles_last(__u32 device)
{
	struct device_handles *h = device_bit(device) && !handles_late() ? handles_here(0) : NULL;

	return h && h->refs[bounded(device - 1, DEVICES - 1)] == 1;
}

/* ---- a thread's device */

/* Set by tool_run(). */
const volatile struct device_config device_config SEC(SECTION_DEVICE_CONFIG);

enum { DEVICE_BELOW = 8, DEVICE_CACHE = 4 };

/* Kept of a thread. */
struct device_thread {
	struct device_call {
		__u64 sp, id;
		__u64 args[6];	/* [1] to [5]: the first; [0] = 0 */
	} calls[CUDA_LIB_MAX];			/* in flight, of each layer */
	__u64 place, below[DEVICE_BELOW];	/* its stack of contexts, as in abi/device.h */
	__u32 depth;				/* of below; if greater, the rest is unknown */
	__u32 device;				/* of place */
	__u32 generation;			/* that the rest belongs to */
	bool others;				/* its process uses other devices, too */
	bool late;				/* not all handles of its process are known */
	struct { __u64 stream; __u32 device, unused; } cache[DEVICE_CACHE];
};

/* The thread's device, whatever its streams are on. */
static __always_inline __u32 device_here(struct device_thread *d)
{
	const struct task_struct *task = (void *)bpf_get_current_task_btf();

	if (!d->device && !d->place && (task->start_time >= device_state.since || !handles_late()))
		d->device = 1;
	return d->device;
}

GLOBAL_SUBPROG int device_refresh(struct device_thread *d)
{
	__u32 here;

	if (!d)
		return 0;
	here = device_here(d);
	d->generation = device_state.generation;
	ordered();	/* what another thread has changed before is seen */
	d->late = handles_late();
	d->others = handles_devices() & ~device_bit(here);
	__builtin_memset(d->cache, 0, sizeof(d->cache));
	return 0;
}

static __always_inline void device_is_current(struct device_thread *d)
{
	if (d->generation != device_state.generation)
		device_refresh(d);
}

static __always_inline __u32 device_of_stream(struct device_thread *d, __u64 stream)
{
	__u64 at = bounded((stream >> 6 ^ stream >> 12) % DEVICE_CACHE, DEVICE_CACHE - 1);

	if (d->cache[at].stream != stream) {
		d->cache[at].device = handle_device(stream);
		d->cache[at].stream = stream;
	}
	return d->cache[at].device;
}

/* Streams up to this value are default ones of the current device: 0, cudaStreamLegacy, cudaStreamPerThread. */
enum { STREAMS_DEFAULT = 2 };

/* The device of a call with this stream; 0 if it has none. */
static __always_inline __u32 device_in(struct device_thread *d, __u64 stream)
{
	__u32 here = device_here(d);

	if (stream <= STREAMS_DEFAULT)
		return here;
	device_is_current(d);
	return d->others || d->late ? device_of_stream(d, stream) : here;
}

/* The device of what is allocated from a pool; 0 if unknown. */
GLOBAL_SUBPROG __u32 device_of_pool(struct device_thread *d, __u64 pool)
{
	__u32 known = handle_device(pool);

	if (!d || known == HANDLE_FOREIGN)
		return 0;
	if (known)
		return known == HANDLE_HOST ? DEVICE_NONE : known;
	device_is_current(d);
	return d->others || d->late ? 0 : device_here(d);
}

/* Return true if calls on this device are wanted. */
static __always_inline bool device_wanted(__u32 device)
{
	if (!device_config.only)
		return true;
	if (!device)
		__sync_fetch_and_add(&device_state.unknown, 1);
	return device_config.only & device_bit(device);
}

static __always_inline __u64 device_argument(const struct device_call *c, unsigned char pos)
{
	return c->args[bounded(pos, 5)];
}

/* The argument that is a handle, or where one is stored. */
static __always_inline __u64 device_handle(const struct device_call *c, const struct cuda_args *row)
{
	return device_argument(c, row->out ?: row->ctx ?: row->pool ?: row->stream);
}

/* Notes the device of a pool that was made, returned or destroyed. */
static __always_inline void device_pooled(const struct device_call *c, const struct cuda_args *row)
{
	__u64 handle = device_handle(c, row), at = device_argument(c, row->location);
	__u32 device = HANDLE_FOREIGN;

	if (!row->out) {
		handle_note(handle, 0, false);
		return;
	}
	if (row->dev)
		device = device_number(device_argument(c, row->dev));
	else if (row->location)
		device = device_of_location(read_u64(at + row->location_at - 1));
	handle_note(read_u64(handle), device == DEVICE_NONE ? HANDLE_HOST : device, false);
}

static __always_inline void device_moved(struct device_thread *d, __u64 place)
{
	d->place = place;
	d->device = place & PLACE_DEVICE ? device_number(place) : place ? handle_device(place) : 0;
	d->generation = device_state.generation - 1;
	handles_use(d->device);
}

static __always_inline void device_push(struct device_thread *d)
{
	if (d->depth < DEVICE_BELOW)
		d->below[bounded(d->depth, DEVICE_BELOW - 1)] = d->place;
	d->depth++;
}

/* The thread may have pushed contexts before tracing began. */
static __always_inline void device_pop(struct device_thread *d)
{
	__u64 place = PLACE_UNKNOWN;

	if (d->depth && --d->depth < DEVICE_BELOW)
		place = d->below[bounded(d->depth, DEVICE_BELOW - 1)];
	device_moved(d, place);
}

/* Return true if the runtime's function in flight makes this context current: it is the primary one of
 * the thread's device. */
static __always_inline bool device_inside(struct device_thread *d, __u64 outer, __u64 sp)
{
	struct device_call *c = &d->calls[CUDA_RT];

	if (c->sp > sp && is_armed(c->sp))
		return true;
	return outer > sp && is_armed(outer);
}

/* A context was made current; a primary one is recorded as its device. */
static __always_inline void device_chosen(struct device_thread *d, __u64 context, __u64 outer, __u64 sp)
{
	struct device_call *c = &d->calls[CUDA_RT];
	__u32 known = handle_device(context), device = device_here(d);

	if (!known && device_inside(d, outer, sp)) {
		if (c->sp > sp && c->id == CUDA_ID_cudaSetDevice)
			device = device_number(c->args[1]);
		handle_note(context, device, true);
	}
	device_moved(d, handle_is_primary(context) ? PLACE_DEVICE | (handle_device(context) - 1) : context);
}

static __always_inline void device_switched(struct device_thread *d, const struct device_call *c,
					    const struct cuda_args *row, __u64 outer)
{
	__u64 handle = device_handle(c, row), dev = device_argument(c, row->dev);
	__u64 context = row->ctx && row->out && row->stack != CUDA_POP ? read_u64(handle) : handle;

	if (row->counted)
		handles_count(row->stack == CUDA_GONE ? handle_device(handle) : device_number(dev), row->stack == CUDA_KEEP);
	if (row->stack == CUDA_GONE)
		handle_note(handle, 0, false);
	else if (row->from)
		handle_note(context, handle_device(device_argument(c, row->from)), true);
	else if (row->dev && row->ctx)
		handle_note(context, device_number(dev), row->stack == CUDA_KEEP);
	if (row->stack == CUDA_KEEP || row->stack == CUDA_GONE)
		return;
	if (row->stack == CUDA_POP || (row->ctx && !context)) {
		device_pop(d);
		return;
	}
	if (row->stack == CUDA_PUSH)
		device_push(d);
	if (row->ctx)
		device_chosen(d, context, outer, c->sp);
	else
		device_moved(d, PLACE_DEVICE | (__u32)dev);
}

/* Call where one of the calls in flight has succeeded.  outer: the stack pointer at the entry of the runtime function in
 * flight, or 0. */
GLOBAL_SUBPROG int device_ended(struct device_thread *d, __u32 lib, __u64 outer)
{
	const struct cuda_args *row;
	struct device_call *c;
	__u64 id;

	if (!d)
		return 0;
	c = &d->calls[lib == CUDA_DRV];
	id = c->id;
	if (id >= CUDA_ID_MAX)
		return 0;
	id = bounded(id, CUDA_ID_MAX - 1);
	row = &cuda_rows[id];
	if (cuda_classes[id] == CUDA_STREAM) {
		handle_note(read_u64(device_handle(c, row)),
			    row->ctx ? handle_device(device_argument(c, row->ctx)) : device_here(d), false);
	} else if (cuda_classes[id] == CUDA_POOLS) {
		device_pooled(c, row);
	} else if (cuda_classes[id] == CUDA_CTX) {
		device_switched(d, c, row, outer);
	} else if (cuda_classes[id] == CUDA_WAIT) {
		handle_note(device_handle(c, row), 0, false);
	} else if (row->counted) {
		handles_count(device_number(device_argument(c, row->dev)), false);
	} else if (row->ctx) {
		handle_note(device_handle(c, row), 0, false);
		if (d->place == device_handle(c, row))
			device_pop(d);
	}
	return 0;
}

NOINLINE_IN_USER bool device_call_enter(struct pt_regs *ctx, struct device_thread *d, __u64 id)
{
	struct device_call *c = &d->calls[cuda_libs[id] == CUDA_DRV];

	c->args[1] = CALL_ARG(ctx, 1);
	c->args[2] = CALL_ARG(ctx, 2);
	c->args[3] = CALL_ARG(ctx, 3);
	c->args[4] = CALL_ARG(ctx, 4);
	c->args[5] = CALL_ARG(ctx, 5);
	c->sp = PT_REGS_SP(ctx);
	c->id = id;
	return true;
}

/* Call at every entry.  Returns true if the call concerns devices, and its return is needed. */
static __always_inline bool device_enter(struct pt_regs *ctx, struct device_thread *d, __u64 id)
{
	return CUDA_DEVICE_CLASSES & 1u << cuda_classes[id] && device_call_enter(ctx, d, id);
}

/* Return true if this function is probed only to follow devices. */
static __always_inline bool device_alone(__u64 id)
{
	return device_config.alone & 1u << cuda_classes[id];
}

/* Return true at the return of a call that device_enter() wanted to return. */
static __always_inline bool device_ends(struct pt_regs *ctx, const struct device_thread *d)
{
	__u64 sp = PT_REGS_SP(ctx) - CALL_POPS;

	return d->calls[CUDA_RT].sp == sp || d->calls[CUDA_DRV].sp == sp;
}

/* Call at such a return. */
NOINLINE_IN_USER void device_leave(struct pt_regs *ctx, struct device_thread *d, __u64 outer)
{
	bool driver = d->calls[CUDA_DRV].sp == PT_REGS_SP(ctx) - CALL_POPS;

	if (!(__u32)PT_REGS_RC(ctx))
		device_ended(d, driver ? CUDA_DRV : CUDA_RT, outer);
	d->calls[driver].sp = 0;
}

/* Call where the thread's program is replaced. */
static __always_inline void device_dropped(struct device_thread *d)
{
	__builtin_memset(d, 0, sizeof(*d));
}

#endif
