/* SPDX-License-Identifier: GPL-2.0 */
/* The bytes that a call allocates, copies or sets, and the direction of a copy. */
#ifndef LIB_BYTES_BPF_H
#define LIB_BYTES_BPF_H
#include "lib/call.bpf.h"
#include "abi/array_bytes.h"
#include "abi/bytes.h"

/* ---- arrays, with their mipmap levels */

/* The verifier walks each number of levels: not for each format, too. */
GLOBAL_SUBPROG __u64 array_volume(const struct block *b, const struct volume *v, __u32 layers, __u32 levels)
{
	return b && v ? volume_bytes(*b, *v, layers, levels) : 0;
}

static __always_inline __u64 rt_array_bytes(const struct call *call, const struct cuda_args *row)
{
	struct rt_format format = {};
	struct volume v = {};
	struct block b;

	if (bpf_probe_read_user(&format, sizeof(format), (void *)cuda_arg(call, row->desc)))
		lose(LOST_READ);
	if (row->extent) {
		v.width = struct_arg(call, row->extent, 0);
		v.height = struct_arg(call, row->extent, 1);
		v.depth = struct_arg(call, row->extent, 2);
	} else {
		v.width = cuda_arg(call, row->width);
		v.height = cuda_arg(call, row->height);
	}
	b = rt_block(&format);
	return array_volume(&b, &v, has_layers(cuda_arg(call, row->flags)), cuda_arg(call, row->levels));
}

/* From a CUDA_ARRAY_DESCRIPTOR. */
static __always_inline __u64 drv_array_bytes(__u64 desc)
{
	struct drv_array a = {};
	struct volume v = {};
	struct block b;

	if (bpf_probe_read_user(&a, sizeof(a), (void *)desc))
		lose(LOST_READ);
	v.width = a.width;
	v.height = a.height;
	b = drv_block(a.format, a.channels);
	return array_volume(&b, &v, false, 1);
}

/* From a CUDA_ARRAY3D_DESCRIPTOR. */
static __always_inline __u64 drv_array3d_bytes(__u64 desc, __u32 levels)
{
	struct drv_array3d a = {};
	struct block b;

	if (bpf_probe_read_user(&a, sizeof(a), (void *)desc))
		lose(LOST_READ);
	b = drv_block(a.format, a.channels);
	return array_volume(&b, &a.volume, has_layers(a.flags), levels);
}

static __always_inline __u64 array_bytes(const struct call *call, const struct cuda_args *row)
{
	if (row->shape == CUDA_DRV_ARRAY)
		return drv_array_bytes(cuda_arg(call, row->desc));
	if (row->shape == CUDA_DRV_ARRAY3D)
		return drv_array3d_bytes(cuda_arg(call, row->desc), cuda_arg(call, row->levels));
	return rt_array_bytes(call, row);
}

/* ---- calls */

/* The most pieces of one batch copy that are counted: in rounds of some, fewer where the verifier walks them all. */
enum { PIECES_ROUND = 8, PIECES_ROUNDS_WALKED = 512, PIECES_ROUNDS = 1 << 16 };

/* The bytes of an allocation or mapping; 0 for a function without a size. */
static __always_inline void bytes_of_memory(const struct call *call, const struct cuda_args *row,
					    struct bytes *b)
{
	switch (row->shape) {
	case CUDA_BYTES:
		b->n = cuda_arg(call, row->size);
		break;
	case CUDA_FIELD:
		b->n = read_u64(cuda_arg(call, row->size) + row->size_at);
		break;
	case CUDA_PITCH:
		b->pitch = cuda_arg(call, row->pitch);
		b->n = cuda_arg(call, row->height);
		break;
	case CUDA_PITCHED:	/* struct cudaPitchedPtr: ptr, pitch, … */
		b->pitch = cuda_arg(call, row->ptr) + 8;
		b->n = struct_arg(call, row->extent, 1) * struct_arg(call, row->extent, 2);
		break;
	default:
		b->n = array_bytes(call, row);
	}
}

static __always_inline __u64 piece(__u64 at, bool flat)
{
	__u64 words[3] = { 0, 0, 1 };
	long err = flat ? bpf_probe_read_user(words, 16, (void *)at) :
			  bpf_probe_read_user(words, 24, (void *)at);

	if (err)
		lose(LOST_READ);
	return words[0] * words[1] * words[2];
}

/* left: of the pieces; step: bytes from one to the next. */
struct pieces { __u64 at, step, bytes, left; bool sizes; };

/* A round of sizes. */
static __always_inline __u64 add_sizes(__u64 at, __u32 n)
{
	__u64 sizes[PIECES_ROUND] = {}, sum = 0;

	if (bpf_probe_read_user(sizes, 8 * checked(n, PIECES_ROUND), (void *)at))
		lose(LOST_READ);
	for (__u32 i = 0; i < PIECES_ROUND; i++)
		sum += sizes[i];
	return sum;
}

static long add_pieces(__u32 i, struct pieces *p)
{
	__u32 n = p->left < PIECES_ROUND ? p->left : PIECES_ROUND;

	(void)i;
	if (p->sizes)
		p->bytes += add_sizes(p->at, n);
	for (__u32 j = 0; j < PIECES_ROUND && !p->sizes && j < n; j++)
		p->bytes += piece(p->at + j * p->step, false);
	p->at += n * p->step;
	p->left -= n;
	return !p->left;
}

/* The sum of n pieces: sizes, or structs of step bytes with a width, height and depth.  Where the
 * kernel lacks bpf_loop() (5.17), the verifier walks the loop as often as it may run, which takes
 * another tenth of a second at the start. */
static __always_inline __u64 pieces(__u64 at, __u64 n, __u64 step, bool sizes)
{
	struct pieces p = { .at = at, .step = step, .left = n, .sizes = sizes };

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_loop))
		bpf_loop(PIECES_ROUNDS, add_pieces, &p, 0);
	else
		for (__u32 i = 0; i < PIECES_ROUNDS_WALKED && p.left; i++)
			add_pieces(i, &p);
	if (p.left)
		lose(LOST_PIECES);
	return p.bytes;
}

static __always_inline __u64 copy_size(const struct call *call, const struct cuda_args *row)
{
	__u64 unit = row->elem ?: 1;

	switch (row->shape) {
	case CUDA_RECT:
		return cuda_arg(call, row->width) * cuda_arg(call, row->height) * unit;
	case CUDA_EXTENT:
		return struct_arg(call, row->extent, 0) * struct_arg(call, row->extent, 1) *
		       struct_arg(call, row->extent, 2);
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

/* Two CUmemorytype: 1 host, 2 device, 3 array; 4 is unified. */
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

/* Return true if a cudaMemcpy3DParms or cudaMemcpy3DPeerParms uses an array.  Its width is then in
 * elements, whose size only the driver's call has. */
static __always_inline bool has_array(const struct cuda_args *row, __u64 params)
{
	if (row->size_at == 128 && row->kind_at)
		return read_u64(params) || read_u64(params + 64);
	if (row->size_at == 144)
		return read_u64(params) || read_u64(params + 72);
	return false;
}

/* Sets the direction of a copy, and whether bytes_nested() must correct its size. */
static __always_inline void bytes_direction(const struct call *call, const struct cuda_args *row,
					    struct bytes *b)
{
	__u64 params = row->params ? cuda_arg(call, row->params) : 0;

	b->direction = direction_of(row, cuda_arg(call, row->kind), params);
	if (row->shape == CUDA_PARAMS && !row->count)
		b->elements = has_array(row, params);
}

/* Call at the entry of a call that copies, sets or prefetches. */
static __always_inline void bytes_enter_copy(const struct call *call, __u64 id, struct bytes *b)
{
	const struct cuda_args *row = &cuda_rows[id];

	*b = (struct bytes){ .n = copy_size(call, row) };
	if (cuda_classes[id] == CUDA_COPY)
		bytes_direction(call, row, b);
}

/* Call at the entry of a call of any class. */
static __always_inline void bytes_enter(const struct call *call, __u64 id, struct bytes *b)
{
	unsigned char class = cuda_classes[id];

	*b = (struct bytes){};
	if (class == CUDA_COPY || class == CUDA_SET || class == CUDA_PREFETCH)
		bytes_enter_copy(call, id, b);
	if (class == CUDA_ALLOC || class == CUDA_MAP || class == CUDA_UNMAP)
		bytes_of_memory(call, &cuda_rows[id], b);
}

/* Call for a copy inside the one in flight, the driver's inside the runtime's: it may know more. */
static __always_inline bool bytes_nested(struct pt_regs *ctx, __u64 id, struct bytes *b)
{
	const struct cuda_args *row;
	bool changed = false;
	__u32 direction;

	if (id >= CUDA_ID_MAX)
		return false;
	id = checked(id, CUDA_ID_MAX - 1);
	if (cuda_classes[id] != CUDA_COPY)
		return false;
	row = &cuda_rows[id];
	if (b->direction == CUDA_DEFAULT) {
		direction = direction_of(row, 4, CALL_ARG(ctx, 1));
		changed = direction != CUDA_DEFAULT;
		if (changed)
			b->direction = direction;
	}
	if (b->elements && row->shape == CUDA_PARAMS && row->params == 1 && !row->count) {
		b->n = piece(CALL_ARG(ctx, 1) + row->size_at, false);
		b->elements = false;
		changed = true;
	}
	return changed;
}

/* The number of bytes; call at the return. */
static __always_inline __u64 bytes_leave(const struct bytes *b, bool failed)
{
	return !b->pitch ? b->n : failed ? 0 : b->n * read_u64(b->pitch);
}

#endif
