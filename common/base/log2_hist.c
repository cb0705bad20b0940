/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/log2_hist.h"
#include "base/util.h"

unsigned long long hist_row_low(unsigned int row)
{
	return row ? 1ull << row : 0;
}

unsigned long long hist_row_high(unsigned int row)
{
	return (2ull << row) - 1;	/* 2^64 - 1 for row 63 */
}

static void add_up(unsigned long long *to, unsigned long long n)
{
	if (__builtin_add_overflow(*to, n, to))
		*to = ~0ull;
}

void hist_add(struct hist *h, unsigned long long value, unsigned long long n)
{
	unsigned int slot = hist_slot_of(value);

	add_up(&h->slots[slot], n);
	if (value != hist_low(slot, HIST_BITS))
		h->mixed[slot / 64] |= 1ull << slot % 64;
}

unsigned long long hist_join(struct hist *to, const struct hist *from)
{
	unsigned long long all = 0, n;

	for (int i = 0; i < HIST_SLOTS; i++) {
		n = from->slots[i];
		add_up(&to->slots[i], n);
		add_up(&all, n);
	}
	for (int i = 0; i < HIST_WORDS; i++)
		to->mixed[i] |= from->mixed[i];
	return all;
}

void hist_rows(const struct hist *h, unsigned long long rows[HIST_ROWS])
{
	for (int i = 0; i < HIST_ROWS; i++)
		rows[i] = 0;
	for (int i = 0; i < HIST_SLOTS; i++)
		add_up(&rows[hist_row_of(hist_low(i, HIST_BITS))], h->slots[i]);
}

/* Returns the estimate whose error is the same share of low as of high: low + high is at most 17/8 of low, and the error
 * 1/17, for the slots of struct hist. */
static unsigned long long between(unsigned long long low, unsigned long long high)
{
	double share = (double)low / ((double)low + (double)high);

	return low + (unsigned long long)((double)(high - low) * share);
}

/* Returns the estimate for the values from low to high if they are evenly spread, and this share of them is below. */
static unsigned long long interpolated(unsigned long long low, unsigned long long high, double share)
{
	unsigned long long n = high - low, part = share < 1 ? (double)n * share : n;

	return part < n ? low + part : high;
}

static unsigned __int128 count(const struct hist_counts *c)
{
	unsigned __int128 total = 0;

	for (unsigned int i = 0; i < c->slots; i++)
		total += c->range(c->from, i).n;
	return total;
}

static unsigned long long clamp(unsigned long long value, unsigned long long least, unsigned long long most)
{
	return value < least ? least : value > most ? most : value;
}

/* The counts may be a hostile program's: then, too, the result is in [least, most], and not smaller for a larger percent. */
static unsigned long long percentile(const struct hist_counts *c, unsigned int percent, unsigned long long least,
				     unsigned long long most, bool *about)
{
	const unsigned __int128 total = count(c), rank = (total * percent + 99) / 100;
	unsigned __int128 seen = 0;
	struct hist_range r = { 0 };

	*about = false;
	if (rank <= 1)
		return least;
	if (rank == total)
		return most;
	for (unsigned int i = 0; seen < rank; i++) {
		r = c->range(c->from, i);
		seen += r.n;
	}
	r.low = clamp(r.low, least, most);
	r.high = seen == total ? most : clamp(r.high, least, most);
	*about = r.low != r.high;
	if (c->interpolate)
		return interpolated(r.low, r.high, 1 - (double)(seen - rank) / r.n);
	return *about ? between(r.low, r.high) : r.low;
}

struct hist_spread hist_counts_spread(const struct hist_counts *c, unsigned long long least, unsigned long long most)
{
	struct hist_spread s = { .min = least, .max = most };

	if (least > most)
		return (struct hist_spread){ .min = NO_VALUE, .p50 = NO_VALUE, .p95 = NO_VALUE, .p99 = NO_VALUE, .max = NO_VALUE };
	s.p50 = percentile(c, 50, least, most, &s.about_p50);
	s.p95 = percentile(c, 95, least, most, &s.about_p95);
	s.p99 = percentile(c, 99, least, most, &s.about_p99);
	return s;
}

static struct hist_range slot_range(const void *from, unsigned int slot)
{
	const struct hist *h = from;
	bool mixed = h->mixed[slot / 64] >> slot % 64 & 1;
	unsigned long long low = hist_low(slot, HIST_BITS);

	return (struct hist_range){ low, mixed ? hist_high(slot, HIST_BITS) : low, h->slots[slot] };
}

struct hist_spread hist_spread(const struct hist *h, unsigned long long least, unsigned long long most)
{
	return hist_counts_spread(&(struct hist_counts){ h, HIST_SLOTS, false, slot_range }, least, most);
}

static struct hist_range row_range(const void *from, unsigned int row)
{
	const unsigned long long *rows = from;

	return (struct hist_range){ hist_row_low(row), hist_row_high(row), rows[row] };
}

struct hist_spread hist_rows_spread(const unsigned long long rows[HIST_ROWS], unsigned long long least,
				    unsigned long long most)
{
	return hist_counts_spread(&(struct hist_counts){ rows, HIST_ROWS, true, row_range }, least, most);
}
