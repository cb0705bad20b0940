/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdbool.h>
#include <string.h>
#include "nccl/comm_layout.h"

/* ncclCommUserRank(), ncclCommCount() and ncclCommCuDevice() each load one of three words that are beside each other: the
 * rank's is the only place that the first loads from, with the next word loaded by the second and the one after by the
 * third. */

enum { PLACES = 64, COMM_MAX = 16 << 20 };

struct places {
	unsigned at[PLACES];
	int n;
};

/* Of x86-64's instructions; the mode is in a ModRM byte. */
enum { MOV = 0x8b, DISP32 = 2, REX_B = 1, REX_W = 8, RSP = 4, RBP = 5, SIB_BASE = 0x24 };

/* Returns from which bytes of a struct the code loads 4 bytes: mov disp32(reg), reg. */
static struct places loads(const struct code *code)
{
	struct places p = { .n = 0 };

	for (size_t i = 0; i + 7 <= code->size && p.n < PLACES; i++) {
		const unsigned char *c = &code->bytes[i];
		unsigned char rex = i && (c[-1] & 0xf0) == 0x40 ? c[-1] : 0;
		unsigned place, base = (c[1] & 7) | (rex & REX_B) << 3;
		bool sib = (base & 7) == RSP;

		/* at %rsp and %rbp are local variables */
		if (c[0] != MOV || c[1] >> 6 != DISP32 || rex & REX_W || base == RSP || base == RBP || (sib && c[2] != SIB_BASE))
			continue;
		memcpy(&place, c + 2 + sib, sizeof(place));
		if (place && place < COMM_MAX && place % 4 == 0)
			p.at[p.n++] = place;
	}
	return p;
}

static bool has(const struct places *p, unsigned place)
{
	for (int i = 0; i < p->n; i++)
		if (p->at[i] == place)
			return true;
	return false;
}

unsigned comm_layout_rank(const struct code *user_rank, const struct code *count, const struct code *cu_device)
{
	const struct places ranks = loads(user_rank), counts = loads(count), devices = loads(cu_device);
	unsigned found = 0;

	for (int i = 0; i < ranks.n; i++) {
		unsigned place = ranks.at[i];

		if (place < 8 || !has(&counts, place + 4) || !has(&devices, place + 8))
			continue;
		if (found && found != place)
			return 0;
		found = place;
	}
	return found;
}
