/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "cudatrace/trace.h"
#include "cudatrace/trace_device.h"

bool trace_tells_device(const struct cuda_proto *proto)
{
	const struct cuda_fn *fn = trace_role(proto);

	return fn && cuda_fn_in(fn, CUDA_DEVICE_CLASSES);
}

bool trace_uses_device(const struct trace_call *call)
{
	int role = call->function->role - 1;

	return call->event->device && !(role >= 0 && cuda_fns[role].class == CUDA_CTX);
}
