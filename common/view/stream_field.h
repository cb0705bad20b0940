/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Streams as tools print them. */
#ifndef STREAM_FIELD_H
#define STREAM_FIELD_H
#include "abi/stream.h"
#include "api/cuda_fn.h"
#include "cli/field.h"

/* Returns the stream of a call that was passed this one; OUT_NONE if the function takes none. */
unsigned long long stream_of(const struct cuda_fn *fn, unsigned long long passed);

/* unsigned long long, from stream_of(), or 0 for none: "default", "per-thread" or 0x…; strings in JSON. */
extern const struct field_type field_stream;
#define OUT_STREAM (&field_stream)

/* Returns "default stream", "per-thread default stream", "stream 0x…", or "no stream" for none; in text or
 * not. */
const char *stream_text(unsigned long long stream, char text[32]);

#endif
