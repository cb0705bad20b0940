/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How many bytes a recorded call allocates, maps or unmaps: what bpf/lib/bytes.bpf.h finds at the call
 * itself. */
#ifndef TRACE_BYTES_H
#define TRACE_BYTES_H
#include <stdbool.h>
#include <stddef.h>

struct cuda_args;
struct trace_call;

/* Copies size bytes at this offset of what an argument points to; false if they were not read. */
bool trace_pointed(const struct trace_call *call, unsigned char place, size_t at, void *to,
		   size_t size);

/* Returns 0 if the size is not known. */
unsigned long long trace_bytes(const struct trace_call *call, const struct cuda_args *row);

#endif
