/* SPDX-License-Identifier: GPL-2.0 */
/* Which memory of the host is pinned or managed: by the calls that allocate and register it.  A copy looks its address up. */
#ifndef LIB_PINNED_BPF_H
#define LIB_PINNED_BPF_H
#include "lib/call.bpf.h"
#include "lib/processes.bpf.h"
#include "lib/shares.bpf.h"
#include "abi/pinned.h"

BPF_HASH(pinned_blocks, struct pinned_key, struct pinned_value, PINNED_BLOCKS)
BPF_HASH(pinned_ranges, struct pinned_key, struct pinned_value, PINNED_RANGES)
struct pinned_shares pinned_shares SEC(".data.pinned");

static __u64 pinned_levels;	/* those of which there was a block: the others are not looked up */

/* The rest of a range that is added or removed, in pages. */
struct pinned_walk { __u64 page, end; struct pinned_key key; __u32 memory; bool adds, full; };

static __always_inline void pinned_block_add(struct pinned_walk *w, __u32 level)
{
	struct pinned_value v = { .memory = w->memory, .n = 1 }, *old = bpf_map_lookup_elem(&pinned_blocks, &w->key);

	if (old)
		__sync_fetch_and_add(&old->n, 1);
	else if (!share_add(&pinned_blocks, &w->key, &v, &v.share, &pinned_shares.blocks, PINNED_BLOCKS))
		w->full = true;
	if (!(*(volatile __u64 *)&pinned_levels & 1ull << level))
		__sync_fetch_and_or(&pinned_levels, 1ull << level);
}

static __always_inline void pinned_block_remove(const struct pinned_walk *w)
{
	struct pinned_value *old = bpf_map_lookup_elem(&pinned_blocks, &w->key);
	__u32 share;

	if (!old || __sync_fetch_and_add(&old->n, -1) > 1)
		return;
	share = old->share;
	if (!bpf_map_delete_elem(&pinned_blocks, &w->key))
		share_give_back(&pinned_shares.blocks, share);
}

/* The largest block that begins here. */
static long pinned_step(__u32 i, struct pinned_walk *w)
{
	__u32 level = 0;

	(void)i;
	for (__u32 l = 1; l < PINNED_LEVELS; l++) {
		__u64 pages = 1ull << l * PINNED_STEP;

		if (!(w->page & (pages - 1)) && w->end - w->page >= pages)
			level = l;
	}
	w->key.at = w->page << PINNED_PAGE | level;
	if (w->adds)
		pinned_block_add(w, level);
	else
		pinned_block_remove(w);
	w->page += 1ull << level * PINNED_STEP;
	return w->page >= w->end;
}

/* As in lib/bytes.bpf.h, few blocks where the verifier walks them all. */
enum { PINNED_STEPS = 4096, PINNED_STEPS_WALKED = 32 };

static __always_inline void pinned_walk(struct pinned_walk *w)
{
	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))
		bpf_loop(PINNED_STEPS, pinned_step, w, 0);
	else
		for (__u32 i = 0; i < PINNED_STEPS_WALKED && w->page < w->end; i++)
			pinned_step(i, w);
	if (w->adds && (w->full || w->page < w->end))
		lose(LOST_PINNED);
}

static __always_inline struct pinned_walk pinned_range(const struct pinned_key *key, __u64 size)
{
	return (struct pinned_walk){
		.page = key->at >> PINNED_PAGE, .end = (key->at + size + (1ull << PINNED_PAGE) - 1) >> PINNED_PAGE,
		.key.program = key->program,
	};
}

/* Removes a range, if the program has it. */
static __noinline void pinned_remove(const struct pinned_key *key)
{
	struct pinned_value *range = bpf_map_lookup_elem(&pinned_ranges, key);
	struct pinned_walk w;
	__u32 share;

	if (!range)
		return;
	w = pinned_range(key, range->n);
	share = range->share;
	pinned_walk(&w);
	if (!bpf_map_delete_elem(&pinned_ranges, key))
		share_give_back(&pinned_shares.ranges, share);
}

static __always_inline void pinned_add(const struct pinned_key *key, __u64 size, __u32 memory)
{
	struct pinned_value range = { .memory = memory, .n = size };
	struct pinned_walk w = pinned_range(key, size);

	pinned_remove(key);	/* its free was not seen */
	if (!share_add(&pinned_ranges, key, &range, &range.share, &pinned_shares.ranges, PINNED_RANGES)) {
		lose(LOST_PINNED);
		return;
	}
	w.memory = memory;
	w.adds = true;
	pinned_walk(&w);
}

/* Return true for a function that frees memory, or allocates none on the host: its return is not needed.  Call at its entry:
 * what is freed goes now, as at the return another thread may have its address. */
static __noinline bool pinned_passes(struct pt_regs *ctx, struct thread *t, __u64 id)
{
	const struct cuda_args *row = &cuda_rows[bounded(id, CUDA_ID_MAX - 1)];
	const unsigned char class = cuda_classes[bounded(id, CUDA_ID_MAX - 1)];
	struct pinned_key key = {};

	if (class == CUDA_ALLOC)
		return row->memory != CUDA_HOST && row->memory != CUDA_MANAGED;
	if (class != CUDA_FREE)
		return false;
	key.program = program_if_known(t, thread_pid());
	key.at = CALL_ARG(ctx, 1);
	if (key.program)
		pinned_remove(&key);
	return true;
}

/* Call at the return of a call of class CUDA_ALLOC that does not pass. */
static __noinline void pinned_leave(struct thread *t, __u64 id, bool failed)
{
	const struct cuda_args *row = &cuda_rows[bounded(id, CUDA_ID_MAX - 1)];
	struct pinned_key key = { .at = cuda_arg(&t->call, row->ptr) };
	bool first;

	if (failed || !process_known(t, thread_pid(), &first))
		return;
	key.program = t->program;
	if (row->out)
		key.at = read_u64(key.at);
	pinned_add(&key, cuda_arg(&t->call, row->size), row->memory == CUDA_HOST ? HOST_PINNED : HOST_MANAGED);
}

/* What an address is in; HOST_NONE: in no range that is known. */
static __always_inline __u32 pinned_find(__u64 program, __u64 address)
{
	const __u64 levels = *(volatile __u64 *)&pinned_levels;
	struct pinned_key key = { .program = program };

	for (__u32 l = 0; l < PINNED_LEVELS; l++) {
		struct pinned_value *v;

		if (!(levels & 1u << l))
			continue;
		key.at = address >> (PINNED_PAGE + l * PINNED_STEP) << (PINNED_PAGE + l * PINNED_STEP) | l;
		v = bpf_map_lookup_elem(&pinned_blocks, &key);
		if (v)
			return v->memory;
	}
	return HOST_NONE;
}

/* Bytes of *params with the host's address, after those with its type. */
enum { PINNED_TYPE = 8, PINNED_3D_SRC = 32, PINNED_3D_DST = 96 };

static __always_inline __u64 pinned_address(const struct call *call, const struct cuda_args *row, bool source)
{
	const unsigned char type = source ? row->src_at : row->dst_at;
	__u64 params;

	if (!row->params)
		return cuda_arg(call, source ? row->src : row->dst);
	params = cuda_arg(call, row->params);
	if (type)
		return read_u64(params + type + PINNED_TYPE);
	return row->kind_at ? read_u64(params + (source ? PINNED_3D_SRC : PINNED_3D_DST)) : 0;
}

/* The memory on the host's side of a copy in this direction; call at its return. */
static __noinline __u32 pinned_of_copy(struct thread *t, __u64 id, __u32 direction)
{
	const struct cuda_args *row = &cuda_rows[bounded(id, CUDA_ID_MAX - 1)];
	__u64 program = program_if_known(t, thread_pid()), source, to;
	__u32 memory;

	if (direction == CUDA_DTOD || direction == CUDA_PTOP || cuda_classes[bounded(id, CUDA_ID_MAX - 1)] != CUDA_COPY)
		return HOST_NONE;
	if (row->count)		/* a batch: of several addresses */
		return HOST_UNKNOWN;
	source = direction == CUDA_DTOH ? 0 : pinned_address(&t->call, row, true);
	to = direction == CUDA_HTOD ? 0 : pinned_address(&t->call, row, false);
	memory = pinned_find(program, direction == CUDA_DTOH ? to : source);
	/* of two sides the worse */
	if (memory && direction == CUDA_HTOH)
		memory = pinned_find(program, to);
	/* … and of two that may be any the one that is known: managed memory may be on the side of the GPU */
	if (!memory && direction == CUDA_DEFAULT && pinned_find(program, to) == HOST_PINNED)
		memory = HOST_PINNED;
	if (memory)
		return memory;
	return direction == CUDA_DEFAULT || !(source | to) || handles_late() ? HOST_UNKNOWN : HOST_PAGEABLE;
}

#endif
