/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which arguments say on which device a call works. */
#ifndef CUDATRACE_TRACE_PLACE_H
#define CUDATRACE_TRACE_PLACE_H
#include "abi/cudatrace.h"
#include "api/cuda_fn.h"
#include "api/cuda_protos.h"

/* Sets what the probes need of them: in *fn role, handle, handle_at and TRACE_PLACED, and *where, for the map places.
 * role: the function's row of cuda_api.tbl; NULL: it has none, and the types of its parameters say it. */
void trace_place(struct trace_function *fn, struct cuda_args *where, const struct cuda_proto *proto,
		 const struct cuda_fn *role);

#endif
