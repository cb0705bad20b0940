/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "cli/hist.h"

enum { STARS = 40 };

void hist_text(const unsigned long long *slots, const char *unit, int shift)
{
	unsigned long long drawn[HIST_SLOTS] = { 0 }, most = 0;
	int first = HIST_SLOTS, last = -1, width, stars;

	for (int i = 0; i < HIST_SLOTS; i++)
		drawn[i > shift ? i - shift : 0] += slots[i];
	for (int i = 0; i < HIST_SLOTS; i++) {
		if (!drawn[i])
			continue;
		if (i < first)
			first = i;
		last = i;
		if (drawn[i] > most)
			most = drawn[i];
	}
	if (last < 0)
		return;
	width = last < 33 ? 10 : 20;
	stars = last < 33 ? STARS : STARS / 2;
	printf("%*s%-*s : count     distribution\n", width / 2, "", 2 * width - width / 2 + 4, unit);
	for (int i = first; i <= last; i++) {
		int n = (double)stars * drawn[i] / most;

		printf("%*llu -> %-*llu : %-8llu |%.*s%*s|\n", width, hist_low(i), width, hist_high(i),
		       drawn[i], n, "****************************************", stars - n, "");
	}
}

void hist_json(const unsigned long long *slots)
{
	const char *gap = "";

	putchar('[');
	for (int i = 0; i < HIST_SLOTS; i++) {
		if (!slots[i])
			continue;
		printf("%s[%llu,%llu,%llu]", gap, hist_low(i), hist_high(i), slots[i]);
		gap = ",";
	}
	putchar(']');
}
