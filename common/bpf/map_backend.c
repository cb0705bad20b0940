/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <linux/membarrier.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "bpf/map_backend.h"

/* Static, as a tool has one set of maps, which most of its parts read. */
static const struct maps *shared;
static unsigned lanes;

void bmaps_use_lanes(unsigned n)
{
	lanes = n;
}

unsigned bmaps_lanes(void)
{
	return lanes ?: (unsigned)libbpf_num_possible_cpus();
}

void bmaps_use(const struct maps *maps)
{
	shared = maps;
}

bool bmaps_are_shared(void)
{
	return shared;
}

bool bmap_exists(const struct bpf_map *map)
{
	return map && (shared || bpf_map__fd(map) >= 0);
}

int bmap_lookup(const struct bpf_map *map, const void *key, void *value)
{
	return shared ? shared->lookup(shared->ctx, map, key, value) : bpf_map_lookup_elem(bpf_map__fd(map), key, value);
}

int bmap_update(const struct bpf_map *map, const void *key, const void *value, unsigned long long flags)
{
	return shared ? shared->update(shared->ctx, map, key, value, flags) :
			bpf_map_update_elem(bpf_map__fd(map), key, value, flags);
}

int bmap_delete(const struct bpf_map *map, const void *key)
{
	return shared ? shared->remove(shared->ctx, map, key) : bpf_map_delete_elem(bpf_map__fd(map), key);
}

int bmap_next(const struct bpf_map *map, const void *key, void *next)
{
	return shared ? shared->next(shared->ctx, map, key, next) : bpf_map_get_next_key(bpf_map__fd(map), key, next);
}

/* This membarrier is the kernel's synchronize_rcu(): it waits for every BPF program that runs.  Where it is not available
 * (nohz_full), half a second has to do. */
void bmaps_settle(void)
{
	const struct timespec pause = { 0, 500000000 };

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&pause, NULL);
	if (shared)
		shared->settle(shared->ctx);
}

void *bmaps_run(const char *program, size_t size, size_t *n)
{
	*n = 0;
	return shared ? shared->run(shared->ctx, program, size, n) : NULL;
}

void *bmap_elements(const struct bpf_map *map)
{
	return shared ? shared->elements(shared->ctx, map) : NULL;
}
