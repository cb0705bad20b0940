/* SPDX-License-Identifier: GPL-2.0 */
/* Calls that load or unload an image of code, beside the call that a thread is in: the runtime loads code in the first call
 * that needs it. */
#ifndef LIB_CODE_BPF_H
#define LIB_CODE_BPF_H
#include <stdbool.h>
#include "lib/call.bpf.h"
#include "lib/task.bpf.h"

/* Kept of a thread: the outermost such call that it is in. */
struct code_call {
	__u64 sp;		/* at its entry; 0: none */
	__u64 start, id;
	__u64 handle;		/* or where it is stored */
	__u64 size;		/* of the image, bytes; 0: not known */
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
VERIFIED_ONCE __u64 image_size(__u64 image)
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

/* Return true if the function loads or unloads an image. */
static __always_inline bool is_code(__u64 id)
{
	return id < CUDA_ID_MAX && cuda_rows[bounded(id, CUDA_ID_MAX - 1)].memory == CUDA_CODE;
}

/* At an entry.  Returns true if the return must be traced.  The handle is the first argument, the image the second. */
static __always_inline bool code_enter(struct pt_regs *ctx, struct code_call *c)
{
	__u64 id = bounded(cuda_id(ctx), CUDA_ID_MAX - 1), sp = PT_REGS_SP(ctx);

	if (c->sp) {
		if (sp <= c->sp && is_armed(c->sp))
			return false;
		lose(LOST_RETURN);
	}
	c->sp = sp;
	c->id = id;
	c->start = bpf_ktime_get_ns();
	c->handle = PT_REGS_PARM1(ctx);
	c->size = cuda_rows[id].image ? image_size(PT_REGS_PARM2(ctx)) : 0;
	return true;
}

/* Return true at the return of that call. */
static __always_inline bool code_ends(struct pt_regs *ctx, const struct code_call *c)
{
	return c->sp && PT_REGS_SP(ctx) == c->sp + CALL_POPS;
}

#endif
