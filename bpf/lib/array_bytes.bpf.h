/* SPDX-License-Identifier: GPL-2.0 */
/* How many bytes an array has, with its mipmap levels. */
#ifndef ARRAY_BYTES_BPF_H
#define ARRAY_BYTES_BPF_H
#include "lib/call.bpf.h"
#include "abi/array_bytes.h"

static __always_inline __u64 rt_array_bytes(const struct call *call, const struct cuda_args *row)
{
	struct rt_format format = {};
	struct volume v = {};

	if (bpf_probe_read_user(&format, sizeof(format), (void *)cuda_arg(call, row->desc)))
		lose(LOST_READ);
	if (row->extent) {
		v.width = cuda_arg(call, row->extent);
		v.height = cuda_arg(call, row->extent + 1);
		v.depth = cuda_arg(call, row->extent + 2);
	} else {
		v.width = cuda_arg(call, row->width);
		v.height = cuda_arg(call, row->height);
	}
	return volume_bytes(rt_block(&format), v,
			    has_layers(cuda_arg(call, row->flags)), cuda_arg(call, row->levels));
}

/* From a CUDA_ARRAY_DESCRIPTOR. */
static __always_inline __u64 drv_array_bytes(__u64 desc)
{
	struct drv_array a = {};
	struct volume v = {};

	if (bpf_probe_read_user(&a, sizeof(a), (void *)desc))
		lose(LOST_READ);
	v.width = a.width;
	v.height = a.height;
	return volume_bytes(drv_block(a.format, a.channels), v, false, 1);
}

/* From a CUDA_ARRAY3D_DESCRIPTOR. */
static __always_inline __u64 drv_array3d_bytes(__u64 desc, __u32 levels)
{
	struct drv_array3d a = {};

	if (bpf_probe_read_user(&a, sizeof(a), (void *)desc))
		lose(LOST_READ);
	return volume_bytes(drv_block(a.format, a.channels), a.volume, has_layers(a.flags), levels);
}

static __always_inline __u64 array_bytes(const struct call *call, const struct cuda_args *row)
{
	if (row->shape == CUDA_DRV_ARRAY)
		return drv_array_bytes(cuda_arg(call, row->desc));
	if (row->shape == CUDA_DRV_ARRAY3D)
		return drv_array3d_bytes(cuda_arg(call, row->desc), cuda_arg(call, row->levels));
	return rt_array_bytes(call, row);
}

#endif
