// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "ptx/uses.h"
#include <stdlib.h>
#include <string.h>
#include "ptx/decl.h"
#include "ptx/lex.h"

/* A function has fewer names than half its bytes. */
bool ptx_uses_begin(struct ptx_uses *uses, size_t bytes)
{
	unsigned bits = 8;

	while (bits < 26 && (size_t)1 << bits < bytes / 2)
		bits++;
	if (!uses->count || bits > uses->max_bits) {
		free(uses->count);
		uses->count = malloc((size_t)1 << bits);
		if (!uses->count)
			return false;
		uses->max_bits = bits;
		uses->seed = ptx_seed();
	}
	uses->bits = bits;
	memset(uses->count, 0, (size_t)1 << bits);
	return true;
}

static unsigned char *counter(const struct ptx_uses *uses, struct ptx_str name)
{
	return &uses->count[ptx_hash(uses->seed, name) & ((1u << uses->bits) - 1)];
}

void ptx_uses_count(struct ptx_uses *uses, struct ptx_str body)
{
	struct ptx_str rest = body, name;

	while ((name = lex_next_word(&rest)).n) {
		unsigned char *count = counter(uses, name);

		*count += *count < 2;
	}
}

bool ptx_used(const struct ptx_uses *uses, struct ptx_str name)
{
	return *counter(uses, name) > 1;
}

void ptx_uses_free(struct ptx_uses *uses)
{
	free(uses->count);
	memset(uses, 0, sizeof(*uses));
}
