/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "base/bpf_mmap.h"

void bpf_mmap_per_cpu(struct bpf_map *map, unsigned int n)
{
	bpf_map__set_max_entries(map, libbpf_num_possible_cpus() * n);
}

/* Returns the size in whole pages. */
static size_t size_of(const struct bpf_map *map)
{
	size_t page = getpagesize(), size = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);

	return (size + page - 1) / page * page;
}

void *bpf_mmap_elements(const struct bpf_map *map)
{
	void *at = mmap(NULL, size_of(map), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);

	return at == MAP_FAILED ? NULL : at;
}

void bpf_munmap_elements(const struct bpf_map *map, void *elements)
{
	munmap(elements, size_of(map));
}
