/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The tool's side: makes the memory for the maps of a BPF object that is not loaded. */
#ifndef SHM_CREATE_H
#define SHM_CREATE_H
#include "shm/shm.h"

struct bpf_map;
struct bpf_object;

/* A function to probe: name is copied. */
struct shm_function {
	const char *name;
	__u32 id, lib, flags;
};

struct shm_memory {
	struct shm shm;
	int fd;			/* the memfd, sealed against shrinking */
	int read;		/* the same, only for reading; -1 before shm_fix() */
	int fixed;		/* the one with what is read-only, sealed against writing; -1 before shm_fix() */
	const struct bpf_map *of[AUDIT_MAPS];	/* shm.map[i] is this one's */
};

/* Call instead of bpf_object__load(), with sizes and read-only data set.  Makes the memory and maps it; the data sections
 * (skel->bss, bpf_map__initial_value()) become part of it where they are, but for read-only ones: of those it has a copy,
 * so that the tool goes on with what it has set.  A section's name there begins with its dot.  Maps of other types than struct audit_map's
 * (of programs that do not run here) are left out.  Returns NULL with errno set. */
struct shm_memory *shm_create(struct bpf_object *obj, const struct shm_function *functions, int n);

/* Call once what is read-only has been set, before a program has the memory.  Returns false with errno set. */
bool shm_fix(struct shm_memory *m);
void shm_destroy(struct shm_memory *m);

/* The map's view; NULL if it was left out. */
struct shm_map *shm_of(struct shm_memory *m, const struct bpf_map *map);

#endif
