/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>
#include "abi/shares.h"
#include "base/die.h"
#include "bpf/map_backend.h"
#include "model/entries.h"

void entries_drop(const struct bpf_map *map, struct shares *shares, size_t share,
		  bool (*is_over)(const void *ctx, const void *key, const void *value), const void *ctx)
{
	const size_t size = bpf_map__key_size(map);
	char *key = xcalloc(2, size), *next = key + size, *value = xcalloc(1, bpf_map__value_size(map));
	bool more = !bmap_next(map, NULL, next);
	unsigned number;

	while (more) {
		memcpy(key, next, size);
		more = !bmap_next(map, key, next);
		if (bmap_lookup(map, key, value) || !is_over(ctx, key, value) || bmap_delete(map, key))
			continue;
		memcpy(&number, value + share, sizeof(number));
		shares_give_back(shares, number);
	}
	free(value);
	free(key);
}

static bool entries_is_of(const void *ctx, const void *key, const void *value)
{
	(void)value;
	return !memcmp(key, ctx, sizeof(unsigned long long));
}

void entries_drop_program(const struct bpf_map *map, struct shares *shares, size_t share, unsigned long long program)
{
	entries_drop(map, shares, share, entries_is_of, &program);
}
