/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The commonest instructions for all 32 lanes at once: what alu.h's do, a lane at a time. */
#ifndef TESTS_SIM_INTERP_FAST_H
#define TESTS_SIM_INTERP_FAST_H
#include "ptx/ptx.h"
#include <stdint.h>

typedef void fast_fn(uint64_t *d, const uint64_t *a, const uint64_t *b, const uint64_t *c);

/* Return the function for "add.s32" with so many sources, or NULL. */
fast_fn *fast_find(struct ptx_str op, int sources);

#endif
