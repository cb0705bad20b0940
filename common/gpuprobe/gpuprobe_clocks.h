/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Converts the clock of each SM (%clock64, in cycles) to the one that all share (%globaltimer, in ns), by linear
 * interpolation between pairs of the two, because the SMs' frequency changes. */
#ifndef GPUPROBE_GPUPROBE_CLOCKS_H
#define GPUPROBE_GPUPROBE_CLOCKS_H
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

/* Closer pairs are too inexact, because %globaltimer may step by 1 us. */
enum { GPU_PAIR_NS = 1000000 };

/* Pairs of an SM; beyond, every other one is dropped. */
enum { GPU_PAIRS = 1024 };

/* Limits for all: more SMs than any GPU has; 128 MiB of pairs. */
enum { GPU_SMS = 65536, GPU_PAIRS_ALL = 8 << 20 };

struct gpuprobe_sm {
	uint32_t process;	/* gpuprobe_process.id */
	int32_t device;
	uint32_t smid;
};

struct gpuprobe_pair { unsigned long long cycles, ns; };

struct gpuprobe_clock {
	struct gpuprobe_sm sm;
	struct gpuprobe_pair *pair;	/* in any order until gpuprobe_clocks_sort() */
	unsigned n, room;
	UT_hash_handle hh;
};

struct gpuprobe_clocks {
	struct gpuprobe_clock *clock;
	size_t room;		/* for pairs of all SMs */
};

/* Adds a pair; drops it beyond GPU_SMS.  Beyond GPU_PAIRS_ALL an SM has fewer pairs. */
void gpuprobe_clocks_add(struct gpuprobe_clocks *c, const struct gpuprobe_sm *sm, unsigned long long cycles,
		    unsigned long long ns);

/* Call before gpuprobe_clock_ns(), after pairs were added. */
void gpuprobe_clocks_sort(struct gpuprobe_clocks *c);

/* Returns an SM's clock; NULL: it has no pair. */
const struct gpuprobe_clock *gpuprobe_clocks_find(const struct gpuprobe_clocks *c, const struct gpuprobe_sm *sm);

/* Returns the ns of %globaltimer at a cycle of this SM.  With less than two pairs it uses khz, the driver's frequency;
 * NO_VALUE: that is 0, or clock is NULL. */
unsigned long long gpuprobe_clock_ns(const struct gpuprobe_clock *clock, unsigned long long cycles, uint32_t khz);

void gpuprobe_clocks_free(struct gpuprobe_clocks *c);

#endif
