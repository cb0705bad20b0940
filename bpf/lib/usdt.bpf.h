/* SPDX-License-Identifier: GPL-2.0 */
/* USDT probes: rows of cuda_api.tbl whose arguments are found by the probe's note. */
#ifndef LIB_USDT_BPF_H
#define LIB_USDT_BPF_H
#include "lib/task.bpf.h"
#include "lib/call.bpf.h"
#include "abi/usdt.h"

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, USDT_SETS);
	__type(key, __u32);
	__type(value, struct usdt_args);
} usdt_sets SEC(".maps");

/* The places of the arguments of the USDT probe that the thread is at, and the id of its row, safe as an
 * index; NULL if it is at none. */
static __always_inline const struct usdt_args *usdt_here(struct pt_regs *ctx, __u64 *id)
{
	__u64 cookie = probe_cookie(ctx);
	__u32 set = cookie >> USDT_SET_SHIFT;

	*id = bounded((__u32)cookie, CUDA_ID_MAX - 1);
	set--;
	return set < USDT_SETS ? bpf_map_lookup_elem(&usdt_sets, &set) : NULL;
}

/* A register by its offset in machine_regs, which the verifier does not allow as a variable offset. */
static __always_inline __u64 usdt_register(struct pt_regs *ctx, __u32 place)
{
	__u64 value = 0;

	if (place <= sizeof(machine_regs) - sizeof(value) && place != USDT_NO_REGISTER)
		bpf_probe_read_kernel(&value, sizeof(value), (void *)ctx + place);
	return value;
}

static __always_inline __u64 usdt_sized(__u64 value, int size)
{
	__u32 bytes = size < 0 ? -size : size, shift = bounded(64 - 8 * bytes, 63);

	value <<= shift;
	return size < 0 ? (__u64)((__s64)value >> shift) : value >> shift;
}

/* As many bytes as the argument has: no memory may follow it. */
static __always_inline __u64 usdt_memory(__u64 at, int size)
{
	__u64 value = 0, bytes = bounded(size < 0 ? -size : size, sizeof(value));

	if (bpf_probe_read_user(&value, bytes, (void *)at))
		lose(LOST_READ);
	return value;
}

/* Argument number pos, from 1; 0 if there is none. */
static __always_inline __u64 usdt_arg(struct pt_regs *ctx, const struct usdt_args *args, __u32 pos)
{
	const struct usdt_arg *a;
	__u64 value;

	if (!pos)
		return 0;
	a = &args->args[bounded(pos - 1, USDT_ARGS - 1)];
	value = a->value;
	if (a->kind == USDT_REGISTER)
		value = usdt_register(ctx, a->reg);
	if (a->kind == USDT_MEMORY) {
		value += usdt_register(ctx, a->reg) + usdt_register(ctx, a->index) * a->scale;
		value = usdt_memory(value, a->size);
	}
	return a->kind == USDT_NONE ? 0 : usdt_sized(value, a->size);
}

#endif
