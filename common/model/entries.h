/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The entries of a table whose users have shares: bpf/lib/shares.bpf.h. */
#ifndef MODEL_ENTRIES_H
#define MODEL_ENTRIES_H
#include <stdbool.h>
#include <stddef.h>

struct bpf_map;
struct shares;

/* Deletes the entries for which is_over() returns true, and gives back their shares.  share: the offset, in a value, of the number of
 * the entry's share. */
void entries_drop(const struct bpf_map *map, struct shares *shares, size_t share,
		  bool (*is_over)(const void *ctx, const void *key, const void *value), const void *ctx);

/* The same for those of a program, with which their keys begin. */
void entries_drop_program(const struct bpf_map *map, struct shares *shares, size_t share, unsigned long long program);

#endif
