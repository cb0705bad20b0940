/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The groups of bpf/lib/call_aggregate.bpf.h: aggregate_key.key is an enum cuda_id, .series one of
 * these.  CALLS_TIMES has values in nanoseconds, and in the group's ns the bytes of the calls that
 * succeeded; CALLS_BYTES has values in bytes. */
#ifndef CALL_AGGREGATE_H
#define CALL_AGGREGATE_H

enum { CALLS_TIMES, CALLS_BYTES };

#endif
