/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Where code comes from: the .loc before it, and what that was inlined at. */
#ifndef PLACES_H
#define PLACES_H
#include <stdint.h>
#include "ptx/ptx.h"

struct ptx_place {
	unsigned file, line, column;
};

struct ptx_loc {
	struct ptx_place at, by;	/* by: what it was inlined at; line 0: nothing */
	uint32_t next;			/* in its bucket, + 1 */
};

struct ptx_places {
	struct ptx_loc *loc;	/* each place once */
	uint32_t n, max, *bucket;
	uint32_t current;	/* the latest .loc of this function, + 1 */
	uint32_t seed;
	bool failed;		/* out of memory: some are missing */
};

/* Begins a function: no place is current, and those before it are forgotten. */
void ptx_places_begin(struct ptx_places *places);
/* Takes a .loc statement's body in, which becomes current; false if it is none. */
bool ptx_places_loc(struct ptx_places *places, struct ptx_str body);
/* Fills place[] from the current one, innermost first, and returns how many there are. */
unsigned ptx_places_chain(const struct ptx_places *places, struct ptx_place *place, unsigned max);
void ptx_places_free(struct ptx_places *places);

#endif
