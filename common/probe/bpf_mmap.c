/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "probe/bpf_mmap.h"
#include "base/die.h"

void bpf_mmap_per_cpu(struct bpf_map *map, unsigned int n)
{
	int cpus = libbpf_num_possible_cpus();

	if (cpus < 1)
		die(cpus, "cannot determine the number of CPUs");
	bpf_map__set_max_entries(map, cpus * n);
}

void *bpf_mmap_elements(const struct bpf_map *map)
{
	size_t page = getpagesize(), size = (size_t)bpf_map__max_entries(map) * bpf_map__value_size(map);
	void *at = mmap(NULL, (size + page - 1) / page * page, PROT_READ | PROT_WRITE, MAP_SHARED,
			bpf_map__fd(map), 0);

	if (at == MAP_FAILED)
		die(errno, "cannot map %s", bpf_map__name(map));
	return at;
}
