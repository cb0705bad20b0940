/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "abi/array_bytes.h"
#include "cudatrace/trace.h"
#include "cudatrace/trace_bytes.h"

/* Return true if read i is of what the argument points to, and long enough. */
static bool reads(const struct trace_call *call, int i, unsigned char place, size_t size)
{
	const struct trace_read *r = &call->function->reads[i];

	return (r->how == TRACE_IN || r->how == TRACE_OUT) && place && r->word == place - 1 &&
	       call->read[i] && call->event->read[i] >= size;
}

bool trace_pointed(const struct trace_call *call, unsigned char place, size_t at, void *to,
		   size_t size)
{
	for (int i = 0; i < call->function->nreads; i++) {
		if (!reads(call, i, place, at + size))
			continue;
		memcpy(to, call->read[i] + at, size);
		return true;
	}
	return false;
}

static unsigned long long word_at(const struct trace_call *call, unsigned char place, size_t at)
{
	unsigned long long word = 0;

	trace_pointed(call, place, at, &word, sizeof(word));
	return word;
}

static unsigned long long rt_array_bytes(const struct trace_call *call, const struct cuda_args *row)
{
	struct rt_format format = { 0 };
	struct volume v = { trace_word(call, row->width), trace_word(call, row->height), 0 };

	trace_pointed(call, row->desc, 0, &format, sizeof(format));
	if (row->extent) {
		v.width = trace_word(call, row->extent);
		v.height = trace_word(call, row->extent + 1);
		v.depth = trace_word(call, row->extent + 2);
	}
	return volume_bytes(rt_block(&format), v, has_layers(trace_word(call, row->flags)),
			    trace_word(call, row->levels));
}

static unsigned long long drv_array_bytes(const struct trace_call *call, const struct cuda_args *row)
{
	struct drv_array a = { 0 };
	struct volume v = { 0 };

	trace_pointed(call, row->desc, 0, &a, sizeof(a));
	v.width = a.width;
	v.height = a.height;
	return volume_bytes(drv_block(a.format, a.channels), v, false, 1);
}

static unsigned long long drv_array3d_bytes(const struct trace_call *call, const struct cuda_args *row)
{
	struct drv_array3d a = { 0 };

	trace_pointed(call, row->desc, 0, &a, sizeof(a));
	return volume_bytes(drv_block(a.format, a.channels), a.volume, has_layers(a.flags),
			    trace_word(call, row->levels));
}

unsigned long long trace_bytes(const struct trace_call *call, const struct cuda_args *row)
{
	switch (row->shape) {
	case CUDA_BYTES:
		return trace_word(call, row->size);
	case CUDA_FIELD:
		return word_at(call, row->size, row->size_at);
	case CUDA_PITCH:
		return trace_word(call, row->height) * word_at(call, row->pitch, 0);
	case CUDA_PITCHED:	/* struct cudaPitchedPtr: ptr, pitch, … */
		return trace_word(call, row->extent + 1) * trace_word(call, row->extent + 2) *
		       word_at(call, row->ptr, 8);
	case CUDA_DRV_ARRAY:
		return drv_array_bytes(call, row);
	case CUDA_DRV_ARRAY3D:
		return drv_array3d_bytes(call, row);
	case CUDA_RT_ARRAY:
		return rt_array_bytes(call, row);
	}
	return 0;
}
