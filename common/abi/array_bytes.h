/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How many bytes an array has, with its mipmap levels, from what a program passes. */
#ifndef ABI_ARRAY_BYTES_H
#define ABI_ARRAY_BYTES_H
#include <stdbool.h>
#include <linux/types.h>
#include <linux/stddef.h>	/* __always_inline */

/* Block of a format: 2^w × 2^h elements in so many bytes.  Formats that compress have
 * blocks of 4 × 4, those whose elements share their colors of 2 × 2 (4:2:0) or 2 × 1 (4:2:2). */
struct block { __u32 w, h, bytes; };

static __always_inline struct block block(__u32 w, __u32 h, __u32 bytes)
{
	return (struct block){ w, h, bytes };
}

/* A cudaChannelFormatDesc: bits of x, y, z, w, and the enum cudaChannelFormatKind. */
struct rt_format { __s32 bits[4]; __u32 kind; };

/* The bits of the kinds not named here are those of an element. */
static __always_inline struct block rt_block(const struct rt_format *d)
{
	switch (d->kind) {
	case 4:									/* NV12 */
		return block(1, 1, 6);
	case 17: case 18: case 23: case 24:					/* BC1, BC4 */
		return block(2, 2, 8);
	case 19: case 20: case 21: case 22: case 25: case 26: case 27: case 28:	/* BC2, 3, 5, 6H */
	case 29: case 30:							/* BC7 */
		return block(2, 2, 16);
	}
	return block(0, 0, (__u32)(d->bits[0] + d->bits[1] + d->bits[2] + d->bits[3]) / 8);
}

/* From a CUarray_format of CUDA 13.0 (cuda.h) and the number of channels, which only the first ones
 * leave open; 0 bytes for a format not known. */
static __always_inline struct block drv_block(__u32 format, __u32 channels)
{
	switch (format) {
	case 0x01: case 0x08: return block(0, 0, channels);			/* 8-bit integers */
	case 0x02: case 0x09: case 0x10: return block(0, 0, 2 * channels);	/* 16-bit, half */
	case 0x03: case 0x0a: case 0x20: return block(0, 0, 4 * channels);	/* 32-bit, float */
	case 0xc0: case 0xc6: return block(0, 0, 1);			/* UNORM_, SNORM_INT8X1 */
	case 0xc1: case 0xc7: case 0xc3: case 0xc9: return block(0, 0, 2);	/* 8X2, 16X1 */
	case 0xc2: case 0xc8: case 0xc4: case 0xca: return block(0, 0, 4);	/* 8X4, 16X2 */
	case 0xc5: case 0xcb: return block(0, 0, 8);				/* 16X4 */
	case 0x50: return block(0, 0, 4);				/* UNORM_INT_101010_2 */
	case 0x91: case 0x92: case 0x97: case 0x98: return block(2, 2, 8);	/* BC1, BC4 */
	case 0x93: case 0x94: case 0x95: case 0x96:				/* BC2, BC3 */
	case 0x99: case 0x9a: case 0x9b: case 0x9c: case 0x9d: case 0x9e:	/* BC5, BC6H, BC7 */
		return block(2, 2, 16);
	case 0xb0: return block(1, 1, 6);				/* NV12 */
	case 0x9f: case 0xa1: return block(1, 1, 12);			/* P010, P016 */
	case 0xa2: case 0xa5: return block(1, 0, 4);			/* NV16, YUY2 */
	case 0xa3: case 0xa4: case 0xa6: case 0xa7: return block(1, 0, 8);	/* P210, P216, Y210, Y216 */
	case 0xa8: case 0xa9: return block(0, 0, 4);			/* AYUV, Y410 */
	case 0xb1: return block(0, 0, 8);				/* Y416 */
	case 0xb2: case 0xb4: return block(0, 0, 3);	/* Y444_PLANAR8, YUV444_8bit_SemiPlanar */
	case 0xb3: case 0xb5: return block(0, 0, 6);	/* Y444_PLANAR10, YUV444_16bit_SemiPlanar */
	}
	return block(0, 0, 0);
}

struct volume { __u64 width, height, depth; };

/* Returns n, 1 for 0.  Without a branch, as the verifier follows each; n is less than 2^63. */
static __always_inline __u64 at_least_one(__u64 n)
{
	return n | (n - 1) >> 63;
}

static __always_inline __u64 blocks_in(__u64 elements, __u32 shift)
{
	return (at_least_one(elements) + (1u << shift) - 1) >> shift;
}

/* Bytes of a volume with its mipmap levels, each half as long in every dimension, but not in depth if
 * that is the number of layers. */
static __always_inline __u64 volume_bytes(struct block b, struct volume v, bool layers, __u32 levels)
{
	const __u64 halved = layers ? 0 : ~0ull;
	__u64 bytes = 0;

	for (__u32 i = 0; i < 16; i++) {
		bytes += b.bytes * blocks_in(v.width, b.w) * blocks_in(v.height, b.h) * at_least_one(v.depth);
		v.width >>= 1, v.height >>= 1, v.depth >>= halved & 1;
		if (i + 1 >= levels || !(v.width | v.height | (v.depth & halved)))
			break;
	}
	return bytes;
}

/* Flags that make the depth the number of layers: cudaArrayLayered and cudaArrayCubemap, and those of
 * the driver alike. */
static __always_inline bool has_layers(__u32 flags)
{
	return flags & (0x01 | 0x04);
}

/* A CUDA_ARRAY_DESCRIPTOR, and a CUDA_ARRAY3D_DESCRIPTOR. */
struct drv_array { __u64 width, height; __u32 format, channels; };
struct drv_array3d { struct volume volume; __u32 format, channels, flags, unused; };

#endif
