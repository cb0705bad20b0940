/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Streams as tools print them. */
#ifndef STREAM_FIELD_H
#define STREAM_FIELD_H
#include "api/cuda_fn.h"
#include "cli/field.h"

/* The two default streams of a device, as cudaStreamLegacy and cudaStreamPerThread. */
enum { STREAM_LEGACY = 1, STREAM_PER_THREAD };

/* Returns the stream of a call that was passed this one; OUT_NONE if the function takes none. */
unsigned long long stream_of(const struct cuda_fn *fn, unsigned long long passed);

/* unsigned long long, from stream_of(): "default", "per-thread" or 0x…; strings in JSON. */
extern const struct field_type field_stream;
#define OUT_STREAM (&field_stream)

#endif
