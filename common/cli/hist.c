/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "cli/hist.h"

enum { STARS = 40 };

void hist_table(const struct hist_totals *t, enum out_unit unit)
{
	const struct hist_spread *s = &t->spread;
	const struct { unsigned long long n; bool about; } row[] = {
		{ t->total, false }, { s->min, false }, { s->p50, s->about_p50 }, { s->p95, s->about_p95 },
		{ s->p99, s->about_p99 }, { s->max, false },
	};

	printf("%10s %11s %11s %11s %11s %11s %11s\n%10llu", "COUNT", "TOTAL", "MIN", "P50", "P95", "P99", "MAX",
	       t->count);
	for (size_t i = 0; i < sizeof(row) / sizeof(*row); i++)
		printf(" %11s", out_percentile(row[i].n, row[i].about, unit));
	putchar('\n');
}

/* Formats a bound, which is 0 or a power of two: of bytes "512", "1K", "2M". */
static const char *bound(double n, enum out_unit unit, char text[16])
{
	int i = 0;

	if (unit != OUT_UNIT_BYTES)
		return n ? out_amount(n < 0x1p64 ? n : 0x1p64 - 2048, unit) : "0";
	for (; n >= 1024; n /= 1024)
		i++;
	snprintf(text, 16, i ? "%.0f%c" : "%.0f", n, " KMGTPE"[i]);
	return text;
}

static void draw(int row, unsigned long long n, unsigned long long most, int width, enum out_unit unit)
{
	int stars = (double)STARS * n / most;
	char low[16], high[16];

	printf("%11s -> %-11s : %-*llu |%.*s%*s|\n", bound(hist_row_low(row), unit, low),
	       bound(2.0 * (1ull << row), unit, high), width, n, stars,
	       "****************************************", STARS - stars, "");
}

void hist_rows_text(const unsigned long long rows[HIST_ROWS], enum out_unit unit)
{
	static const char *const heads[] = { "time", "bytes", "bandwidth", "cycles", "value" };
	int first = HIST_ROWS, last = -1, width;
	unsigned long long most = 0;

	for (int i = 0; i < HIST_ROWS; i++) {
		if (!rows[i])
			continue;
		first = i < first ? i : first;
		last = i;
		most = rows[i] > most ? rows[i] : most;
	}
	if (last < 0)
		return;
	width = snprintf(NULL, 0, "%llu", most);
	width = width < 8 ? 8 : width;
	printf("%6s%-20s : %-*s distribution\n", "", heads[unit], width, "count");
	for (int i = first; i <= last; i++)
		draw(i, rows[i], most, width, unit);
}

void hist_text(const struct hist *h, enum out_unit unit)
{
	unsigned long long rows[HIST_ROWS];

	hist_rows(h, rows);
	hist_rows_text(rows, unit);
}

void hist_rows_json(const unsigned long long rows[HIST_ROWS])
{
	const char *gap = "";

	putchar('[');
	for (int i = 0; i < HIST_ROWS; i++) {
		if (!rows[i])
			continue;
		printf("%s[%llu,%llu,%llu]", gap, hist_row_low(i), hist_row_high(i), rows[i]);
		gap = ",";
	}
	putchar(']');
}

void hist_json(const struct hist *h)
{
	unsigned long long rows[HIST_ROWS];

	hist_rows(h, rows);
	hist_rows_json(rows);
}
