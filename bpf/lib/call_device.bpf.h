/* SPDX-License-Identifier: GPL-2.0 */
/* The device that a call works on, by its arguments. */
#ifndef LIB_CALL_DEVICE_BPF_H
#define LIB_CALL_DEVICE_BPF_H
#include "lib/cuda.bpf.h"

/* Sets the devices of the source and the target of a copy from one to another: the runtime's has devices, the driver's contexts.
 * Returns false if it is no such copy. */
static __always_inline bool peers_of_call(const struct call *call, const struct cuda_args *row, bool driver, __u32 ends[2])
{
	__u64 params, source, target;

	if (row->direction != CUDA_PTOP)
		return false;
	if (row->from) {
		source = call->args[bounded(row->from, CALL_REGISTERS)];
		target = call->args[bounded(row->to, CALL_REGISTERS)];
	} else {
		params = cuda_arg(call, row->params);
		source = read_u64(params + row->from_at);
		target = read_u64(params + row->to_at);
	}
	ends[0] = driver ? handle_device(source) : device_number(source);
	ends[1] = driver ? handle_device(target) : device_number(target);
	return true;
}

/* Some advice is for no place: cudaMemAdviseSetReadMostly and the like ignore the one that is passed.  The numbers are those of
 * CU_MEM_ADVISE_SET_PREFERRED_LOCATION and CU_MEM_ADVISE_…SET_ACCESSED_BY, and the runtime's. */
static __always_inline bool advice_is_placed(__u32 advice)
{
	return advice == 3 || advice == 5 || advice == 6;
}

/* The device that the arguments name, or else that of the stream, the context or the thread; 0: unknown.  location: of
 * location_arg(). */
static __always_inline __u32 device_of_args(struct device_thread *d, const struct call *call, const struct cuda_args *row,
					    __u64 location)
{
	if (row->nowhere)
		return DEVICE_NONE;
	if (row->anywhere)
		return 0;
	if (row->advice && !advice_is_placed(cuda_arg(call, row->advice)))
		return device_here(d);
	if (row->location)
		return device_of_location(location);
	if (row->dev)
		return device_passed(cuda_arg(call, row->dev));
	if (row->pool && row->pool != row->out)
		return device_of_pool(d, cuda_arg(call, row->pool));
	return device_in(d, cuda_arg(call, row->stream ?: row->ctx));
}

/* The same at the entry of the thread's call; of a copy between two devices the source. */
static __always_inline __u32 device_of_call(struct thread *t, __u64 id)
{
	const struct cuda_args *row = &cuda_rows[id];
	__u32 ends[2];

	if (peers_of_call(&t->call, row, cuda_libs[id] == CUDA_DRV, ends))
		return ends[0];
	return device_of_args(&t->device, &t->call, row, row->location ? location_arg(&t->call, row) : 0);
}

#endif
