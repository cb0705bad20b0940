/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The clock of each SM (%clock64, in cycles) against the one that all share (%globaltimer, in ns).  A line leads from
 * each pair of the two to the next one, as the SMs' frequency changes. */
#ifndef GPUPROBE_CLOCKS_H
#define GPUPROBE_CLOCKS_H
#include <stddef.h>
#include <stdint.h>
#include "base/hash.h"

/* Pairs that are closer say little, as %globaltimer may step by 1 us. */
enum { GPU_PAIR_NS = 1000000 };

/* Kept of an SM; when there are more, every other one goes. */
enum { GPU_PAIRS = 1024 };

/* Kept of all: no GPU has so many SMs, and the pairs are 128 MiB. */
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
	size_t room;		/* for pairs, of all */
};

/* Adds a pair; leaves it out where GPU_SMS are kept.  Where GPU_PAIRS_ALL are, an SM has fewer pairs. */
void gpuprobe_clocks_add(struct gpuprobe_clocks *c, const struct gpuprobe_sm *sm, unsigned long long cycles,
		    unsigned long long ns);

/* Call before gpuprobe_clock_ns(), after pairs were added. */
void gpuprobe_clocks_sort(struct gpuprobe_clocks *c);

/* Returns an SM's clock, NULL if it has noted no pair. */
const struct gpuprobe_clock *gpuprobe_clocks_find(const struct gpuprobe_clocks *c, const struct gpuprobe_sm *sm);

/* Returns the ns of %globaltimer at a cycle of this SM.  khz is what the driver says of its frequency, for where
 * there are not two pairs; NO_VALUE if it is needed and 0, or if clock is NULL. */
unsigned long long gpuprobe_clock_ns(const struct gpuprobe_clock *clock, unsigned long long cycles, uint32_t khz);

void gpuprobe_clocks_free(struct gpuprobe_clocks *c);

#endif
