/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Memory that CUDA knows on the host: pinned, or managed.  Kept by bpf/lib/pinned.bpf.h. */
#ifndef ABI_PINNED_H
#define ABI_PINNED_H
#include "abi/shares.h"

/* The host's side of a copy.  HOST_NONE: it has none. */
enum host_memory { HOST_NONE, HOST_PAGEABLE, HOST_PINNED, HOST_MANAGED, HOST_UNKNOWN, HOST_MEMORY_MAX };

/* Ranges are divided into blocks of 2^12, 2^16 … 2^32 bytes that are aligned to their size, the largest possible. */
enum { PINNED_PAGE = 12, PINNED_STEP = 4, PINNED_LEVELS = 6 };

struct pinned_key {
	unsigned long long program;
	unsigned long long at;	/* of a block: its address, with its level in the low bits; of a range: its address */
};

struct pinned_value {
	unsigned int share, memory;	/* memory: enum host_memory */
	unsigned long long n;	/* of a block: ranges in it; of a range: bytes */
};

enum { PINNED_BLOCKS = 65536, PINNED_RANGES = 16384 };

struct pinned_shares { struct shares blocks, ranges; };

#endif
