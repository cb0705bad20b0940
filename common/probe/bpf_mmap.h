/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Arrays that the probes count in and the tool reads as memory: maps of the type
 * BPF_MAP_TYPE_ARRAY with BPF_F_MMAPABLE. */
#ifndef BPF_MMAP_H
#define BPF_MMAP_H

struct bpf_map;

/* Between open and load: so many elements, n for each processor that there may be: how many those
 * are, tool_run() has made sure that libbpf knows. */
void bpf_mmap_per_cpu(struct bpf_map *map, unsigned int n);

/* After load: the elements, as many as bpf_map__max_entries() says, each as large as the map's
 * value, whose size must be a multiple of 8.  NULL with errno set if it cannot be mapped. */
void *bpf_mmap_elements(const struct bpf_map *map);

/* Undoes it, while there is the map. */
void bpf_munmap_elements(const struct bpf_map *map, void *elements);

#endif
