/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What was rewritten in an earlier run, in $XDG_CACHE_HOME/cuda-bpf-tools/inject: a file for each PTX.  Programs that
 * differ in nothing that matters to the result share it: same PTX, probe, options, device and driver. */
#ifndef INJECT_CACHE_H
#define INJECT_CACHE_H
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "abi/inject.h"
#include "ptx/instrument.h"

struct cache {
	char dir[PATH_MAX];	/* empty: none */
	uint64_t options;	/* hash of all that is the same in a process */
};

struct cache_key {
	uint64_t text[2];	/* two hashes of the original */
	uint64_t size, options;
};

/* Finds the directory, and makes it; one that is somebody else's is not used. */
void cache_open(struct cache *cache, const struct inject_config *config, const char *payload, int driver_version);

struct cache_key cache_key(const struct cache *cache, const char *text, size_t size, unsigned sm);

/* Returns true if there is one; out->text is malloc'd. */
bool cache_get(const struct cache *cache, const struct cache_key *key, struct instrumented *out);
void cache_put(const struct cache *cache, const struct cache_key *key, const struct instrumented *what);

#endif
