/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* --kernel-map: what the user calls kernels, by expressions. */
#ifndef KERNEL_MAP_H
#define KERNEL_MAP_H
#include <regex.h>
#include <stddef.h>

/* Starts zeroed. */
struct kernel_map {
	struct kernel_rule { regex_t expression; const char *name; } *rules;
	size_t n;
};

/* Adds "RE=NAME": kernels whose name matches RE, a POSIX extended regular expression, are called NAME.  What
 * follows the last '=' is the name.  Exits 2 on what is none.  Keeps the text. */
void kernel_map_add(struct kernel_map *map, const char *text);
void kernel_map_free(struct kernel_map *map);

/* Returns the name by the first rule that matches, NULL if there is none.  The map owns it. */
const char *kernel_map_find(const struct kernel_map *map, const char *full);

#endif
