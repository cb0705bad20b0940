/* SPDX-License-Identifier: GPL-2.0 */
#ifndef LIB_LAUNCH_DEVICE_BPF_H
#define LIB_LAUNCH_DEVICE_BPF_H
#include "lib/cuda.bpf.h"

NOINLINE_IN_USER __u32 launch_device_of_stream(struct thread *t, const struct cuda_args *row)
{
	__u64 stream = row->params && !row->count ? read_u64(cuda_arg(&t->call, row->params) + CUDA_CONFIG_STREAM) :
		       cuda_arg(&t->call, row->stream);

	return device_in(&t->device, stream);
}

/* The device of a launch.  The stream is on the stack: it is read only if it may be of another device than the thread.  If
 * its device is unknown, the launch would have failed on another device. */
static __always_inline __u32 launch_device(struct thread *t, const struct cuda_args *row)
{
	__u32 here = device_here(&t->device);

	device_is_current(&t->device);
	if (!t->device.others)
		return here;
	return launch_device_of_stream(t, row) ?: here;
}

#endif
