/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The groups of cudamemcpysize. */
#ifndef ABI_CUDAMEMCPYSIZE_H
#define ABI_CUDAMEMCPYSIZE_H

/* In aggregate_key.key: enum cuda_direction or memset (COPY_SET); above it enum host_memory. */
enum { COPY_SET = 7, COPY_WHAT = 7, COPY_ASYNC = 8, COPY_HOST_SHIFT = 4 };

enum copy_shown { COPY_SIZES, COPY_TIMES, COPY_BANDWIDTHS };

#endif
