/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "base/util.h"
#include "gpuprobe/gpuprobe_clocks.h"
#include "models.h"

/* Two SMs: one whose frequency changes from 1 GHz to 2 GHz, and one of 500 MHz.  START: what both clocks had. */
static const unsigned long long START = 1ull << 61, MS = 1000000, MANY = 10007;

static void print(const char *what, unsigned long long got)
{
	printf("{\"what\":\"%s\",\"who\":\"clock\",\"got\":%lld}\n", what, got == NO_VALUE ? -1 : (long long)(got - START));
}

static unsigned long long cycles_at(unsigned long long ms)
{
	return START + (ms < MANY / 2 ? ms : 2 * ms - MANY / 2) * MS;
}

void models_clocks(void)
{
	static const struct gpuprobe_sm first = { .process = 1, .smid = 3 }, second = { .process = 1, .smid = 5 },
				   none = { .process = 2, .smid = 3 };
	struct gpuprobe_clocks c = { 0 };
	const struct gpuprobe_clock *clock;
	unsigned long long wrong = 0;

	gpuprobe_clocks_sort(&c);
	gpuprobe_clocks_add(&c, &second, START, START);
	gpuprobe_clocks_sort(&c);
	print("one pair, and a frequency", gpuprobe_clock_ns(gpuprobe_clocks_find(&c, &second), START + 13, 500000));
	print("one pair", gpuprobe_clock_ns(gpuprobe_clocks_find(&c, &second), START + 13, 0));
	print("no pair", gpuprobe_clock_ns(gpuprobe_clocks_find(&c, &none), START + 13, 500000));

	/* in no order, each one three times, 1 us apart */
	for (unsigned long long i = 0, ms; i < MANY; i++) {
		ms = i * 7 % MANY;
		for (int near = 0; near < 3; near++)
			gpuprobe_clocks_add(&c, &first, cycles_at(ms) + near * MS / 1000, START + ms * MS + near * MS / 1000);
	}
	gpuprobe_clocks_add(&c, &second, START + 500 * MS, START + 1000 * MS);
	gpuprobe_clocks_sort(&c);
	clock = gpuprobe_clocks_find(&c, &first);
	print(clock->n > GPU_PAIRS / 2 && clock->n <= 2 * GPU_PAIRS ? "as many are kept as may be" : "the number is wrong",
	      START);
	for (unsigned long long ms = 0; ms < MANY; ms++) {
		unsigned long long ns = gpuprobe_clock_ns(clock, cycles_at(ms) + MS / 2, 1);

		/* the frequency changed somewhere between two of those that are left */
		if (ns + 8 * MS < START + ms * MS || ns > START + ms * MS + 8 * MS)
			wrong++;
	}
	print("not in time", START + wrong);
	print("before the first", gpuprobe_clock_ns(clock, START - 13 * MS, 1));
	print("behind the last", gpuprobe_clock_ns(clock, cycles_at(MANY + 17), 1) / MS * MS + START % MS);
	print("of the other", gpuprobe_clock_ns(gpuprobe_clocks_find(&c, &second), START + 17, 1));
	gpuprobe_clocks_free(&c);
}
