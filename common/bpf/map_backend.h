/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A tool's maps, wherever they are: in the kernel, or in memory that it shares with the traced programs.  All but
 * bmaps_use() are as the functions of bpf/bpf.h without the maps_, except that they return -errno. */
#ifndef BPF_MAP_BACKEND_H
#define BPF_MAP_BACKEND_H
#include <stdbool.h>
#include <stddef.h>

struct bpf_map;

/* The other place: each is as the function below of its name. */
struct maps {
	void *ctx;
	int (*lookup)(void *ctx, const struct bpf_map *map, const void *key, void *value);
	int (*update)(void *ctx, const struct bpf_map *map, const void *key, const void *value, unsigned long long flags);
	int (*remove)(void *ctx, const struct bpf_map *map, const void *key);
	int (*next)(void *ctx, const struct bpf_map *map, const void *key, void *next);
	void *(*elements)(void *ctx, const struct bpf_map *map);
	void (*settle)(void *ctx);
	void *(*run)(void *ctx, const char *program, size_t size, size_t *n);
};

/* From here on maps are there; NULL: in the kernel.  maps must live as long. */
void bmaps_use(const struct maps *maps);

/* From here on probes have so many lanes.  Call before the sizes of maps are set. */
void bmaps_use_lanes(unsigned lanes);

/* Returns how many lanes the probes have, that is what they have one element each of that is per CPU: as many as there may be CPUs,
 * unless set.  tool_run() has checked that libbpf knows the number of CPUs. */
unsigned bmaps_lanes(void);

/* Return true if maps are not in the kernel. */
bool bmaps_are_shared(void);

/* Return true if the object has this map, so that the functions below may be called; map may be NULL. */
bool bmap_exists(const struct bpf_map *map);

int bmap_lookup(const struct bpf_map *map, const void *key, void *value);
int bmap_update(const struct bpf_map *map, const void *key, const void *value, unsigned long long flags);
int bmap_delete(const struct bpf_map *map, const void *key);
int bmap_next(const struct bpf_map *map, const void *key, void *next);

/* Waits for all programs of the probes that run now: what begins later sees what was written before.  It takes some
 * milliseconds, and half a second where the kernel lacks membarrier(2). */
void bmaps_settle(void);

/* Runs a program of type iter/task for all threads that have storage, if maps are not in the kernel.  Returns what it
 * wrote, at most size bytes for each, *n bytes, which the caller frees; NULL if that is nothing. */
void *bmaps_run(const char *program, size_t size, size_t *n);

/* For bpf_mmap_elements(): the elements of an array, if maps are not in the kernel; or NULL. */
void *bmap_elements(const struct bpf_map *map);

#endif
