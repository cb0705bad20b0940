/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The tool's side: makes the memory for the maps of a BPF object that is not loaded. */
#ifndef SHMMAP_CREATE_H
#define SHMMAP_CREATE_H
#include "shmmap/shmmap.h"

struct bpf_map;
struct bpf_object;

/* A function to probe: name is copied. */
struct shmmap_function {
	const char *name;
	__u32 id, lib, flags;
};

struct shmmap_memory {
	struct shmmap shm;
	int fd;			/* the memfd, sealed against shrinking */
	int read;		/* the same, read-only; -1 before shmmap_fix() */
	int fixed;		/* the memfd of the read-only part, sealed against writing; -1 before shmmap_fix() */
	const struct bpf_map *of[INJECT_MAPS];	/* shm.map[i] is this one's */
};

/* Call instead of bpf_object__load(), with sizes and read-only data set.  Makes the memory and maps it.  The data sections
 * (skel->bss, bpf_map__initial_value()) become part of it at their addresses; of read-only ones it has a copy, so that the
 * tool keeps its values.  A section's name there begins with its dot.  Maps of other types than struct inject_map's are left
 * out.  Returns NULL with errno set. */
struct shmmap_memory *shmmap_create(struct bpf_object *obj, const struct shmmap_function *functions, int n);

/* Call after the read-only data is set, before a program has the memory.  Returns false with errno set. */
bool shmmap_fix(struct shmmap_memory *m);
void shmmap_destroy(struct shmmap_memory *m);

/* The map's view; NULL if it was left out. */
struct shmmap_map *shmmap_of(struct shmmap_memory *m, const struct bpf_map *map);

#endif
