/* SPDX-License-Identifier: GPL-2.0 */
/* Which stream a call works in, as abi/stream.h has it. */
#ifndef STREAM_BPF_H
#define STREAM_BPF_H
#include "lib/call.bpf.h"
#include "abi/stream.h"

/* The classes of work that is in a default stream if no other is passed (CUDA Programming Guide,
 * "Default Stream"); other functions without a stream work in none, or in all. */
#define STREAM_CLASSES (1u << CUDA_COPY | 1u << CUDA_SET | 1u << CUDA_LAUNCH)

/* Call at the entry of a call. */
static __always_inline __u64 stream_in(const struct call *call, __u64 id)
{
	const struct cuda_args *row = &cuda_rows[id];
	bool config = cuda_classes[id] == CUDA_LAUNCH && row->params;
	__u64 passed = 0;

	if (config && row->count)	/* each in one of its own */
		return 0;
	if (config)
		passed = read_u64(cuda_arg(call, row->params) + CUDA_CONFIG_STREAM);
	else if (row->stream)
		passed = cuda_arg(call, row->stream);
	else if (!(STREAM_CLASSES & 1u << cuda_classes[id]))
		return 0;
	return passed ?: row->per_thread ? STREAM_PER_THREAD : STREAM_LEGACY;
}

#endif
