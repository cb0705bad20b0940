/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Special registers: %tid.x … */
#ifndef TESTS_SIM_INTERP_SPECIAL_H
#define TESTS_SIM_INTERP_SPECIAL_H
#include "ptx/ptx.h"
#include <stdbool.h>
#include <stdint.h>

struct warp;

/* Finds "%tid.x"; false if there is no such register. */
bool special_parse(struct ptx_str name, unsigned *n);
/* Reads one for all lanes. */
void special_read(const struct warp *warp, unsigned n, uint64_t *value);

#endif
