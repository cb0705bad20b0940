/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include "python/line_table.h"

struct reading {
	const unsigned char *at, *end;
	long long line;
	unsigned long long unit;	/* of a version before 3.11: bytes */
	struct line_range *ranges;
	size_t n;
};

/* From r->unit on there is this line. */
static void put(struct reading *r, unsigned unit_bytes, long long line)
{
	unsigned long long unit = r->unit / unit_bytes;
	struct line_range *last = r->n ? &r->ranges[r->n - 1] : NULL;

	if (line < 0 || line > INT_MAX)
		line = 0;
	if (last && last->unit == unit)
		last->line = line;
	else if (!last || last->line != line)
		r->ranges[r->n++] = (struct line_range){ unit, line };
}

/* Pairs: so many bytes later, so many lines further. */
static void read_lnotab(struct reading *r)
{
	put(r, 2, r->line);
	for (; r->end - r->at >= 2; r->at += 2) {
		r->unit += r->at[0];
		r->line += (signed char)r->at[1];
		put(r, 2, r->line);
	}
}

/* Pairs: so many bytes have the line that is so much further; -128: none. */
static void read_pep626(struct reading *r)
{
	for (; r->end - r->at >= 2; r->at += 2) {
		signed char delta = r->at[1];

		if (delta != -128)
			r->line += delta;
		put(r, 2, delta == -128 ? 0 : r->line);
		r->unit += r->at[0];
	}
	put(r, 2, 0);
}

static unsigned long long read_varint(struct reading *r)
{
	unsigned long long value = 0;
	unsigned shift = 0;

	while (r->at < r->end) {
		unsigned char byte = *r->at++;

		if (shift < 32)
			value |= (byte & 63ull) << shift;
		shift += 6;
		if (!(byte & 64))
			break;
	}
	return value;
}

static long long read_signed_varint(struct reading *r)
{
	unsigned long long value = read_varint(r);

	return value & 1 ? -(long long)(value >> 1) : (long long)(value >> 1);
}

enum { ONE_LINE_0 = 10, ONE_LINE_2 = 12, NO_COLUMNS = 13, LONG_FORM = 14, NONE = 15 };

/* Reads an entry; returns the line. */
static long long read_entry(struct reading *r)
{
	unsigned code = *r->at >> 3 & 15;

	r->at++;
	if (code >= ONE_LINE_0 && code <= ONE_LINE_2)
		r->line += code - ONE_LINE_0;
	else if (code == NO_COLUMNS || code == LONG_FORM)
		r->line += read_signed_varint(r);
	return code == NONE ? 0 : r->line;
}

/* The first byte of an entry, and no other, has its highest bit set. */
static void read_locations(struct reading *r)
{
	while (r->at < r->end) {
		unsigned units = (*r->at & 7) + 1;

		if (!(*r->at & 128)) {
			r->at++;
			continue;
		}
		put(r, 1, read_entry(r));
		r->unit += units;
	}
	put(r, 1, 0);
}

size_t line_table_read(unsigned version, unsigned first_line, const unsigned char *table, size_t size,
		       struct line_range *ranges)
{
	struct reading r = { .at = table, .end = table + size, .line = first_line, .ranges = ranges };

	if (version >= 0x030b)
		read_locations(&r);
	else if (version >= 0x030a)
		read_pep626(&r);
	else
		read_lnotab(&r);
	return r.n;
}

unsigned line_table_find(const struct line_range *ranges, size_t n, unsigned unit)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (ranges[mid].unit <= unit)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? ranges[low - 1].line : 0;
}
