/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "elf/cfi.h"
#include "elf/elf_file.h"
#include "python/eval_code.h"

/* Instruction je or the like with a distance of 32 bits: 6 bytes.  Other functions are called, or jumped to
 * without a condition; a few of these byte sequences may be none. */
enum { JUMP = 6, JUMPS = 3, TRIES = 16, MAX_CODE = 1 << 20 };

struct code {
	const unsigned char *bytes;
	unsigned long long addr, size;
};

static bool is_jump(const unsigned char *at)
{
	return at[0] == 0x0f && (at[1] & 0xf0) == 0x80;
}

/* Returns where the jump at this place goes. */
static unsigned long long session_of(const struct code *c, unsigned long long at)
{
	int distance;

	memcpy(&distance, c->bytes + at + 2, sizeof(distance));
	return c->addr + at + JUMP + distance;
}

static unsigned jumps_into(const struct code *c, unsigned long long start, unsigned long long end)
{
	unsigned n = 0;

	for (unsigned long long at = 0; at + JUMP <= c->size; at++)
		if (is_jump(c->bytes + at) && session_of(c, at) >= start && session_of(c, at) < end)
			n++;
	return n;
}

static bool add(struct eval_code *e, const struct elf_file *f, unsigned long long start,
		unsigned long long end)
{
	for (int i = 0; i < EVAL_PARTS; i++) {
		unsigned long long size = end - start;

		if (e->parts[i].end || !elf_file_offset(f, start, &e->parts[i].start))
			continue;
		e->parts[i].end = e->parts[i].start + size;
		return true;
	}
	return false;
}

static bool is_known(const struct eval_code *e, const struct elf_file *f, unsigned long long addr)
{
	unsigned long long offset;

	return !elf_file_offset(f, addr, &offset) || eval_code_has(e, offset);
}

static void find_parts(struct eval_code *e, const struct elf_file *f, const struct code *c)
{
	int tries = TRIES;

	for (unsigned long long at = 0; at + JUMP <= c->size && tries; at++) {
		unsigned long long to = session_of(c, at), start, end;

		if (!is_jump(c->bytes + at) || to - c->addr < c->size || is_known(e, f, to))
			continue;
		tries--;
		if (cfi_extent(f, to, &start, &end) && jumps_into(c, start, end) >= JUMPS &&
		    !add(e, f, start, end))
			return;
	}
}

void eval_code_find(struct eval_code *e, const struct elf_file *f, unsigned long long addr,
		    unsigned long long size)
{
	struct code c = { .addr = addr, .size = size < MAX_CODE ? size : MAX_CODE };
	unsigned long long offset;
	unsigned char *bytes;

	if (!size || !elf_file_offset(f, addr, &offset))
		return;
	bytes = elf_bytes_part(&f->bytes, offset, c.size);
	if (!bytes)
		return;
	c.bytes = bytes;
	find_parts(e, f, &c);
	free(bytes);
}

bool eval_code_has(const struct eval_code *e, unsigned long long offset)
{
	for (int i = 0; i < EVAL_PARTS; i++)
		if (offset >= e->parts[i].start && offset < e->parts[i].end)
			return true;
	return false;
}
