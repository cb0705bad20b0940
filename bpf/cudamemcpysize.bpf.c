// SPDX-License-Identifier: GPL-2.0
/* Copies by direction. */
#include <stdbool.h>
#include <linux/types.h>
#include "cuda_api.h"
#include "cudamemcpysize.h"
#include "tally.h"

struct call_data {
	__u64 size;
	__u32 direction;	/* enum cuda_direction, or COPY_SET */
	bool elements;		/* size counts elements of an array, not bytes */
};

struct thread_data { struct tally_state tally; };

struct pt_regs;
struct thread;
static __always_inline void copy_nested(struct pt_regs *ctx, struct thread *t, __u64 id);
#define CUDA_NESTED copy_nested
#include "cuda.bpf.h"
#include "tally.bpf.h"

/* Of a batch: one call may copy so many pieces. */
enum { PIECES = 512 };

/* Set by the tool. */
const volatile __u32 copy_shown;	/* enum copy_shown */
const volatile __u32 copy_direction;	/* only this one; 0 = all */
const volatile __u64 copy_min;

static __always_inline __u64 piece(__u64 at, bool flat)
{
	__u64 words[3] = { 0, 0, 1 };
	long err = flat ? bpf_probe_read_user(words, 16, (void *)at) :
			  bpf_probe_read_user(words, 24, (void *)at);

	if (err)
		lose(LOST_READ);
	return words[0] * words[1] * words[2];
}

/* The sum of n pieces: sizes, or structs of step bytes with a width, height and depth. */
static __always_inline __u64 pieces(__u64 at, __u64 n, __u64 step, bool sizes)
{
	__u64 bytes = 0;

	if (n > PIECES)
		lose(LOST_PIECES);
	for (__u32 i = 0; i < PIECES; i++) {
		if (i >= n)
			break;
		bytes += sizes ? read_u64(at) : piece(at, false);
		at += step;
	}
	return bytes;
}

static __always_inline __u64 copy_size(const struct call *call, const struct cuda_args *row)
{
	__u64 unit = row->elem ?: 1;

	switch (row->shape) {
	case CUDA_RECT:
		return cuda_arg(call, row->width) * cuda_arg(call, row->height) * unit;
	case CUDA_EXTENT:
		return cuda_arg(call, row->extent) * cuda_arg(call, row->extent + 1) *
		       cuda_arg(call, row->extent + 2);
	case CUDA_SIZES:
		return pieces(cuda_arg(call, row->size), cuda_arg(call, row->count), 8, true);
	case CUDA_PARAMS:
		if (row->count)
			return pieces(cuda_arg(call, row->params) + row->size_at,
				      cuda_arg(call, row->count), row->elem, false);
		/* fall through */
	case CUDA_PARAMS2D:
		return piece(cuda_arg(call, row->params) + row->size_at,
			     row->shape == CUDA_PARAMS2D);
	}
	return cuda_arg(call, row->size) * unit;
}

/* enum cudaMemcpyKind */
static __always_inline __u32 direction_of_kind(__u32 kind)
{
	switch (kind) {
	case 0: return CUDA_HTOH;
	case 1: return CUDA_HTOD;
	case 2: return CUDA_DTOH;
	case 3: return CUDA_DTOD;
	}
	return CUDA_DEFAULT;
}

/* Two CUmemorytype: 1 host, 2 device, 3 array; 4, unified, tells nothing. */
static __always_inline __u32 direction_of_types(__u32 src, __u32 dst)
{
	bool to_host = dst == 1;

	if (src < 1 || src > 3 || dst < 1 || dst > 3)
		return CUDA_DEFAULT;
	if (src == 1)
		return to_host ? CUDA_HTOH : CUDA_HTOD;
	return to_host ? CUDA_DTOH : CUDA_DTOD;
}

static __always_inline __u32 direction_of(const struct cuda_args *row, __u64 kind, __u64 params)
{
	if (row->direction)
		return row->direction;
	if (row->kind_at)
		return direction_of_kind(read_u32(params + row->kind_at));
	if (row->src_at)
		return direction_of_types(read_u32(params + row->src_at),
					  read_u32(params + row->dst_at));
	return direction_of_kind(kind);
}

/* cudaMemcpy3DParms and cudaMemcpy3DPeerParms: the arrays, or null.  Their width is in elements
 * then, of a size that only the driver's call tells. */
static __always_inline bool has_array(const struct cuda_args *row, __u64 params)
{
	if (row->size_at == 128 && row->kind_at)
		return read_u64(params) || read_u64(params + 64);
	if (row->size_at == 144)
		return read_u64(params) || read_u64(params + 72);
	return false;
}

static __always_inline bool copy_enter(struct pt_regs *ctx)
{
	__u64 id, params;
	const struct cuda_args *row;
	struct thread *t;

	t = call_enter(ctx, &id);
	if (!t)
		return false;
	row = &cuda_rows[id];
	t->call.data.size = copy_size(&t->call, row);
	t->call.data.elements = false;
	if (cuda_classes[id] == CUDA_SET) {
		t->call.data.direction = COPY_SET;
		return true;
	}
	params = row->params ? cuda_arg(&t->call, row->params) : 0;
	t->call.data.direction = direction_of(row, cuda_arg(&t->call, row->kind), params);
	if (row->shape == CUDA_PARAMS && !row->count)
		t->call.data.elements = has_array(row, params);
	return true;
}

/* The driver's call inside the runtime's: it may know more. */
static __always_inline void copy_nested(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	struct call_data *d = &t->call.data;
	const struct cuda_args *row;
	__u32 direction;

	barrier_var(id);
	if (id >= CUDA_ID_MAX || cuda_classes[id] != CUDA_COPY)
		return;
	row = &cuda_rows[id];
	if (d->direction == CUDA_DEFAULT) {
		direction = direction_of(row, 4, PT_REGS_PARM1(ctx));
		if (direction != CUDA_DEFAULT)
			d->direction = direction;
	}
	if (d->elements && row->shape == CUDA_PARAMS && row->params == 1 && !row->count) {
		d->size = piece(PT_REGS_PARM1(ctx) + row->size_at, false);
		d->elements = false;
	}
}

static __always_inline __u64 per_second(__u64 bytes, __u64 ns)
{
	const __u64 second = 1000000000;

	if (!ns)
		ns = 1;
	return bytes < 1ull << 34 ? bytes * second / ns : bytes / ns * second;
}

static __always_inline void copy_leave(struct pt_regs *ctx, struct thread *t)
{
	const struct call_data *d = &t->call.data;
	__u64 id = t->call.id, ns = bpf_ktime_get_ns() - t->call.start, size = d->size, shown = size;
	__u32 direction = d->direction;
	bool failed = (__u32)PT_REGS_RC(ctx);
	struct tally_key key;

	t->call.sp = 0;
	barrier_var(id);
	if (id >= CUDA_ID_MAX || size < copy_min)
		return;
	if (copy_direction && copy_direction != direction)
		return;
	if (cuda_rows[id].async) {
		if (copy_shown != COPY_SIZES)
			return;
		direction |= COPY_ASYNC;
		ns = 0;
	}
	if (copy_shown == COPY_TIMES)
		shown = ns;
	else if (copy_shown == COPY_BANDWIDTHS)
		shown = per_second(size, ns);
	key = tally_key(direction);
	if (tally_stacks)
		tally_send(ctx, &t->data.tally, &key, size, ns, shown, failed);
	else
		tally_add(&key, size, ns, shown, failed);
}

CUDA_PROGRAMS(copy_enter, copy_leave)
