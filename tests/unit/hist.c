// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* hist: checks the slots of histograms, and percentiles against those of the sorted values; prints what fails. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include "base/log2_hist.h"
#include "base/util.h"

typedef unsigned long long u64;

static int failures;

static bool check(bool ok, const char *what, u64 value)
{
	if (!ok && failures++ < 20)
		printf("not so: %s: %llu\n", what, value);
	return ok;
}

static u64 next_random(u64 *seed)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed;
}

static void slots_of(unsigned bits)
{
	const unsigned n = (65 - bits) << bits;

	check(hist_low(0, bits) == 0 && hist_high(n - 1, bits) == ~0ull, "the slots have all values", bits);
	for (unsigned i = 0; i < n; i++) {
		const u64 low = hist_low(i, bits), high = hist_high(i, bits);

		check(low <= high, "the ends of a slot are in order", i);
		check(i == n - 1 || high + 1 == hist_low(i + 1, bits), "a slot ends where the next begins", i);
		check(hist_slot(low, hist_shift(hist_log2(low), bits), bits) == i, "the lowest value is in its slot", low);
		check(hist_slot(high, hist_shift(hist_log2(high), bits), bits) == i, "the highest value is in its slot", high);
		check(i >= 2u << bits || low == high, "small values have a slot each", i);
		check(high - low <= low >> bits, "a slot is narrow", i);
		check(hist_log2(low) == hist_log2(high), "a slot is in one row", i);
	}
}

static void one_value(u64 value)
{
	const unsigned slot = hist_slot_of(value), row = hist_row_of(value);

	check(slot < HIST_SLOTS && hist_low(slot, HIST_BITS) <= value && value <= hist_high(slot, HIST_BITS), "a value in its slot",
	      value);
	check(row < HIST_ROWS && hist_row_low(row) <= value && value <= hist_row_high(row), "a value in its row", value);
}

static void values(void)
{
	u64 seed = 0x9e3779b97f4a7c15;

	for (u64 v = 0; v < 1 << 20; v++)
		one_value(v);
	for (int log2 = 0; log2 < 64; log2++)
		for (u64 d = 0; d < 1009; d++) {
			one_value((1ull << log2) + d);
			one_value((1ull << log2) - d);
		}
	for (int i = 0; i < 1000003; i++) {
		u64 v = next_random(&seed);

		one_value(v >> v % 61);
	}
}

static int by_value(const void *a, const void *b)
{
	const u64 p = *(const u64 *)a, q = *(const u64 *)b;

	return (p > q) - (p < q);
}

/* share: the largest error is 1/share of the value; 1: less than a factor of two. */
static void one_percentile(const u64 *sorted, int n, int percent, u64 got, bool about, unsigned share)
{
	const u64 want = sorted[(n * percent + 99) / 100 - 1], off = got > want ? got - want : want - got;

	check(about || got == want, "a percentile without ~ is exact", want);
	check(off <= want / share + (share == 1 || want % share) && want / 2 <= got, "a percentile is near", want);
	check(got >= sorted[0] && got <= sorted[n - 1], "a percentile is between min and max", got);
}

static void spread(const u64 *sorted, int n, struct hist_spread s, unsigned share)
{
	one_percentile(sorted, n, 50, s.p50, s.about_p50, share);
	one_percentile(sorted, n, 95, s.p95, s.about_p95, share);
	one_percentile(sorted, n, 99, s.p99, s.about_p99, share);
	check(s.min == sorted[0] && s.max == sorted[n - 1] && s.p50 <= s.p95 && s.p95 <= s.p99, "percentiles are in order", s.p50);
}

/* Two histograms with every other value each, joined. */
static void sample(u64 *value, int n)
{
	struct hist all = { 0 }, other = { 0 };
	u64 rows[HIST_ROWS], total = 0;

	for (int i = 0; i < n; i++)
		hist_add(i & 1 ? &all : &other, value[i], 1);
	hist_join(&all, &other);
	hist_rows(&all, rows);
	for (int i = 0; i < HIST_ROWS; i++)
		total += rows[i];
	check(total == (u64)n, "the rows have all values", total);
	qsort(value, n, sizeof(*value), by_value);
	spread(value, n, hist_spread(&all, value[0], value[n - 1]), 17);
	spread(value, n, hist_rows_spread(rows, value[0], value[n - 1]), 1);
}

static void samples(void)
{
	static u64 value[4001];
	u64 seed = 0x2545f4914f6cdd1d;

	for (int round = 0; round < 4001; round++) {
		const int n = 1 + next_random(&seed) % (round % 10 ? 41 : 4001), kind = next_random(&seed) % 4;
		const unsigned shift = next_random(&seed) % 64;

		for (int i = 0; i < n; i++) {
			u64 r = next_random(&seed);

			value[i] = kind == 0 ? r >> shift : kind == 1 ? r >> r % 64 : kind == 2 ? 1ull << r % 64 :
				   (1ull << shift) + r % 7;
		}
		sample(value, n);
	}
}

/* The sizes of copies that a report had with P50 36.0 KiB and P95 46.8 KiB. */
static void three_sizes(void)
{
	struct hist h = { 0 };
	struct hist_spread s;

	for (int i = 1; i <= 3; i++)
		hist_add(&h, i * 16384, 1009);
	s = hist_spread(&h, 16384, 49152);
	check(s.p50 == 32768 && !s.about_p50, "p50 of 16, 32 and 48 KiB is 32 KiB", s.p50);
	check(s.p95 == 49152 && !s.about_p95 && s.p99 == 49152 && !s.about_p99, "p95 and p99 are 48 KiB", s.p95);
	hist_add(&h, 32769, 1);
	s = hist_spread(&h, 16384, 49152);
	check(s.about_p50 && s.p50 > 32768 && s.p50 < 36864, "p50 is an estimate once its slot has two values", s.p50);
}

static void hostile(void)
{
	struct hist h, twice;
	struct hist_spread s;
	u64 rows[HIST_ROWS], seed = 88172645463325252;

	for (int i = 0; i < HIST_SLOTS; i++)
		h.slots[i] = ~0ull;
	for (int i = 0; i < HIST_WORDS; i++)
		h.mixed[i] = ~0ull;
	twice = h;
	hist_join(&twice, &h);
	hist_add(&twice, 4096, ~0ull);
	check(twice.slots[hist_slot_of(4096)] == ~0ull, "a count that is too large stays", twice.slots[hist_slot_of(4096)]);
	hist_rows(&twice, rows);
	check(rows[12] == ~0ull, "so does a row", rows[12]);
	for (int i = 0; i < 10007; i++) {
		u64 least = next_random(&seed) >> i % 64, most = next_random(&seed) >> i % 61;

		s = hist_spread(&h, least, most);
		if (least > most)
			check(s.min == NO_VALUE && s.p50 == NO_VALUE && s.p99 == NO_VALUE, "no percentiles", s.p50);
		else
			check(least <= s.p50 && s.p50 <= s.p95 && s.p95 <= s.p99 && s.p99 <= most, "hostile counts", s.p50);
		h.slots[i * 31 % HIST_SLOTS] = next_random(&seed);
		h.mixed[i * 31 % HIST_WORDS] = next_random(&seed);
	}
	for (int i = 0; i < HIST_ROWS; i++)
		rows[i] = i ? 0 : ~0ull;
	s = hist_rows_spread(rows, 0, ~0ull);
	check(s.p50 <= s.p95 && s.p95 <= s.p99, "hostile rows", s.p50);
	h = (struct hist){ 0 };
	s = hist_spread(&h, 7, 23);
	check(s.p50 == 7 && s.p99 == 7, "no counts between min and max", s.p50);
}

int main(void)
{
	_Static_assert(HIST_SLOTS == 496, "the layout");
	for (unsigned bits = 1; bits < 8; bits++)
		slots_of(bits);
	values();
	samples();
	three_sizes();
	hostile();
	printf("%d failures\n", failures);
	return failures != 0;
}
