/* SPDX-License-Identifier: GPL-2.0 */
/* Calls that make or destroy a handle, beside the call that a thread is in: the runtime loads code, for one, in the first call
 * that needs it. */
#ifndef LIB_HANDLE_CALLS_BPF_H
#define LIB_HANDLE_CALLS_BPF_H
#include <stdbool.h>
#include "lib/device.bpf.h"
#include "lib/frames.bpf.h"

/* Set by the tool: handles of all kinds, or else only those of code and contexts. */
const volatile bool memory_handles;

/* Kept of a thread: of each kind of handle the outermost call, as the runtime's calls the driver's. */
struct handle_calls {
	struct frames frames;
	struct handle_call {
		__u64 start, id;
		__u64 handle;		/* or where it is stored */
		__u64 size;		/* of an image, bytes; 0: not known */
		__u32 device;		/* that the arguments name; 0: none */
		__u32 kind;		/* enum cuda_memory */
	} of[FRAMES];
};

enum {
	FATBIN_WRAPPER = 0x466243b1,	/* followed by a version and the address of the fatbin … */
	FATBIN = 0xba55ed50,		/* … and this by a version, the size of the head, and that of the rest */
	ELF = 0x464c457f,
};

struct fatbin_wrapper { __u32 magic, version; __u64 data; };
struct fatbin { __u32 magic; __u16 version, head; __u64 size; };

/* NVIDIA's compilers put the table of sections or that of segments last. */
static __always_inline __u64 elf_size(__u64 image)
{
	struct { __u64 segments, sections; __u32 flags; __u16 head, segment, nsegments, section, nsections, names; } h;
	__u64 end, other;

	if (bpf_probe_read_user(&h, sizeof(h), (void *)(image + 32)))
		return 0;
	end = h.sections + (__u64)h.section * h.nsections;
	other = h.segments + (__u64)h.segment * h.nsegments;
	return end > other ? end : other;
}

/* The size of an image, if it is of a form that has one: PTX has none. */
GLOBAL_SUBPROG __u64 image_size(__u64 image)
{
	struct fatbin_wrapper wrapper;
	struct fatbin head;

	if (!image || bpf_probe_read_user(&wrapper, sizeof(wrapper), (void *)image))
		return 0;
	if (wrapper.magic == ELF)
		return elf_size(image);
	if (wrapper.magic == FATBIN_WRAPPER)
		image = wrapper.data;
	if (bpf_probe_read_user(&head, sizeof(head), (void *)image) || head.magic != FATBIN)
		return 0;
	return head.head + head.size;
}

/* Return true if the function makes or destroys a handle that is followed here.  A reset is a call like those of memory. */
static __always_inline bool is_handle(__u64 id)
{
	unsigned char kind = id < CUDA_ID_MAX ? cuda_rows[bounded(id, CUDA_ID_MAX - 1)].memory : CUDA_MEM_NONE;

	return kind == CUDA_CODE || kind == CUDA_CONTEXT_HANDLE || (memory_handles && kind > CUDA_CODE);
}

/* Return true if a call that is_handle() makes one. */
static __always_inline bool makes_handle(const struct cuda_args *row)
{
	return row->out || row->op == CUDA_END;
}

/* The device that the arguments name; 0: none. */
static __always_inline __u32 handle_call_device(const struct call *call, const struct cuda_args *row)
{
	if (row->dev)
		return device_passed(cuda_arg(call, row->dev));
	if (row->location)
		return device_of_location(location_arg(call, row));
	return row->ctx && row->ctx != row->out ? handle_device(cuda_arg(call, row->ctx)) : 0;
}

/* At an entry; call is room for the arguments.  Returns true if the return must be traced. */
static __always_inline bool handle_enter(struct pt_regs *ctx, struct handle_calls *h, struct call *call)
{
	__u64 id = bounded(cuda_id(ctx), CUDA_ID_MAX - 1), at;
	const struct cuda_args *row = &cuda_rows[id];
	struct handle_call *c;
	bool nested = false;

	call->sp = PT_REGS_SP(ctx);
	keep_arguments(call, ctx);
	frames_drop_dead(&h->frames, call->sp);
	for (__u32 i = 0; i < FRAMES; i++)
		nested |= i < h->frames.used && h->of[i].kind == row->memory;
	if (nested)
		return false;
	at = frames_push(&h->frames, call->sp);
	if (at >= FRAMES) {
		lose(LOST_RETURN);
		return false;
	}
	c = &h->of[at];
	c->id = id;
	c->kind = row->memory;
	c->start = bpf_ktime_get_ns();
	c->handle = cuda_arg(call, row->op == CUDA_END ? row->graph : 1);
	c->size = row->image ? image_size(cuda_arg(call, row->image)) : 0;
	c->device = handle_call_device(call, row);
	return true;
}

/* Return true at the return of such a call. */
static __always_inline bool handle_ends(struct pt_regs *ctx, const struct handle_calls *h)
{
	return frames_end(ctx, &h->frames);
}

#endif
