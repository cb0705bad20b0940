/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "bpf/bpf_mmap.h"
#include "bpf/map_backend.h"

void bpf_mmap_per_cpu(struct bpf_map *map, unsigned int n)
{
	bpf_map__set_max_entries(map, bmaps_lanes() * n);
}

/* Returns the size in whole pages. */
static size_t size_of(const struct bpf_map *map)
{
	size_t page = getpagesize(), size = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);

	return (size + page - 1) / page * page;
}

void *bpf_mmap_elements(const struct bpf_map *map)
{
	void *at;

	if (bmaps_are_shared())
		return bmap_elements(map);
	at = mmap(NULL, size_of(map), PROT_READ | PROT_WRITE, MAP_SHARED, bpf_map__fd(map), 0);
	return at == MAP_FAILED ? NULL : at;
}

void bpf_munmap_elements(const struct bpf_map *map, void *elements)
{
	if (!bmaps_are_shared())
		munmap(elements, size_of(map));
}

void bpf_mmap_not_in_children(void)
{
	FILE *maps = fopen("/proc/self/maps", "re");
	unsigned long start, end;
	char line[512];

	while (maps && fgets(line, sizeof(line), maps))
		if (strstr(line, " anon_inode:bpf-map") && sscanf(line, "%lx-%lx", &start, &end) == 2)
			madvise((void *)start, end - start, MADV_DONTFORK);
	if (maps)
		fclose(maps);
}
