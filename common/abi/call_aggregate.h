/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the groups of bpf/lib/call_aggregate.bpf.h are: aggregate_key.key is an enum cuda_id, key.series one of
 * these.  Values are nanoseconds, and the group's ns is bytes, of the calls that succeeded; or
 * values are bytes. */
#ifndef CALL_AGGREGATE_H
#define CALL_AGGREGATE_H

enum { CALLS_TIMES, CALLS_BYTES };

#endif
