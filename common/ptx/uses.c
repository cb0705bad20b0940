// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "ptx/uses.h"
#include <stdlib.h>
#include <string.h>
#include "ptx/decl.h"
#include "ptx/lex.h"
#include "ptx/words.h"

/* A function has fewer names than half its bytes. */
bool ptx_uses_begin(struct ptx_uses *uses, size_t bytes)
{
	unsigned bits = 12;

	while (bits < 26 && (size_t)1 << bits < bytes)
		bits++;
	if (!uses->count || bits > uses->max_bits) {
		free(uses->count);
		uses->count = malloc((size_t)2 << bits);
		if (!uses->count)
			return false;
		uses->max_bits = bits;
	}
	uses->bits = bits;
	memset(uses->count, 0, (size_t)2 << bits);
	return true;
}

/* No secret seeds: the same text has to give the same result, and equal hashes cost no time here. */
static unsigned char *counter(const struct ptx_uses *uses, struct ptx_str name, uint32_t which)
{
	uint32_t hash = ptx_hash(which ? 2654435769u : 2166136261u, name);

	return &uses->count[(size_t)which << uses->bits | (hash & ((1u << uses->bits) - 1))];
}

void ptx_uses_count(struct ptx_uses *uses, struct ptx_str body)
{
	struct ptx_str rest = body, name;

	while ((name = lex_next_word(&rest)).n)
		for (uint32_t which = 0; which < 2; which++) {
			unsigned char *count = counter(uses, name, which);

			*count += *count < 2;
		}
}

bool ptx_used(const struct ptx_uses *uses, struct ptx_str name)
{
	return *counter(uses, name, 0) > 1 && *counter(uses, name, 1) > 1;
}

void ptx_uses_free(struct ptx_uses *uses)
{
	free(uses->count);
	memset(uses, 0, sizeof(*uses));
}
