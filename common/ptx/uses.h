/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How often a name stands in a function: a result that nothing else names need not be waited for. */
#ifndef USES_H
#define USES_H
#include <stdint.h>
#include "ptx/ptx.h"

struct ptx_uses {
	unsigned char *count;	/* [2][2^bits] by two hashes, up to 2 */
	unsigned bits, max_bits;
};

/* Forgets all, for a function of so many bytes; false if out of memory. */
bool ptx_uses_begin(struct ptx_uses *uses, size_t bytes);
/* Takes in the names of an instruction. */
void ptx_uses_count(struct ptx_uses *uses, struct ptx_str body);
/* Returns true if the name stands twice or more; also, rarely, if others with the same
 * hashes do: then more is waited for than has to be. */
bool ptx_used(const struct ptx_uses *uses, struct ptx_str name);
void ptx_uses_free(struct ptx_uses *uses);

#endif
