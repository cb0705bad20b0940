/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Arrays that the probes count in and the tool reads as memory: maps of type BPF_MAP_TYPE_ARRAY
 * with BPF_F_MMAPABLE. */
#ifndef BPF_BPF_MMAP_H
#define BPF_BPF_MMAP_H

struct bpf_map;

/* Call between open and load: sizes the map to n elements for each of bmaps_lanes(). */
void bpf_mmap_per_cpu(struct bpf_map *map, unsigned int n);

/* Call after load: maps the elements, bpf_map__max_entries() of them, each as large as the map's
 * value, whose size must be a multiple of 8.  Returns NULL with errno set on failure.  Where maps are
 * shared with the traced programs (maps.h) they are mapped already. */
void *bpf_mmap_elements(const struct bpf_map *map);

/* Unmaps them.  Call before the map is closed. */
void bpf_munmap_elements(const struct bpf_map *map, void *elements);

/* Call before fork(): the child gets none of the mappings that this process has of BPF maps now, those of
 * ring buffers included.  They are whole in memory from the start, and each child would have them too. */
void bpf_mmap_not_in_children(void);

#endif
