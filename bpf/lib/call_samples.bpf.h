/* SPDX-License-Identifier: GPL-2.0 */
/* Samples of running threads that may be in a call of CUDA, also of a function that is not probed: a loop of cheap calls would be
 * slowed by a probe many times.  The stack is taken only if the thread runs code in call_code, so that others cost nothing.
 *
 * The program may interrupt one at a probe, in the middle of the thread's buffers: it has its own.  As in lib/host_time.bpf.h, it
 * needs Linux 6.1; with --attach inject there are none. */
#ifndef LIB_CALL_SAMPLES_BPF_H
#define LIB_CALL_SAMPLES_BPF_H
#include "lib/cuda.bpf.h"
#include "lib/stack.bpf.h"
#include "abi/call_sample.h"

/* By process; user space writes it. */
BPF_HASH(call_code, __u32, struct call_code, CALL_CODE_PROCESSES)

struct call_sample_room {
	machine_regs regs;
	struct call_sample record;
};

/* By CPU; the tool sets the number of entries. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct call_sample_room);
} call_sample_rooms SEC(".maps");

#ifdef __bpf__
#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
typedef struct { void *vdso; } mm_context_t;
struct mm_struct___call { mm_context_t context; };
#pragma clang attribute pop

enum { CALL_VDSO_BYTES = 16384 };

/* A call that waits by asking the clock is in there. */
static __always_inline bool call_is_vdso(__u64 ip)
{
	struct mm_struct___call *mm = (void *)BPF_CORE_READ(bpf_get_current_task_btf(), mm);

	return ip - (__u64)BPF_CORE_READ(mm, context.vdso) < CALL_VDSO_BYTES;
}

static __always_inline bool call_is_code(const struct call_code *c, __u64 ip)
{
	bool in = false;

	for (__u32 i = 0; i < CALL_CODE_RANGES; i++)
		in |= i < c->n && ip - c->range[i].from < c->range[i].to - c->range[i].from;
	return in || call_is_vdso(ip);
}

/* Call where the running thread is interrupted; id: the launch that it is in, or CUDA_ID_MAX. */
static __always_inline void call_sampled(void *ctx, __u64 id)
{
	__u32 pid = thread_pid(), cpu = bpf_get_smp_processor_id();
	const struct call_code *code = bpf_map_lookup_elem(&call_code, &pid);
	struct call_sample_room *room = bpf_map_lookup_elem(&call_sample_rooms, &cpu);
	struct call_sample *r;
	__u32 n = 0;

	if (!code || !room)
		return;
	thread_registers(&room->regs);
	r = &room->record;
	r->head.pid = pid;
	r->head.kind = CALL_SAMPLE;
	r->tid = bpf_get_current_pid_tgid();
	r->id = id;
	if (id >= CUDA_ID_MAX) {
		if (!call_is_code(code, PT_REGS_IP(&room->regs)))
			return;
		n = stack_take_user(ctx, &room->regs, r->stack);
		if (!(r->stack[0] & (FRAME_PYTHON | FRAME_NOTE)))
			r->stack[0] |= FRAME_EXACT;
	}
	r->head.frames = n;
	records_send(r, offsetof(struct call_sample, stack) + stack_bytes(n), false);
}

#endif
#endif
