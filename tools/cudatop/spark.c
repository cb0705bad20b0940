/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <langinfo.h>
#include <math.h>
#include <string.h>
#include "cudatop/spark.h"

enum { HEIGHTS = 8 };

void spark_add(struct spark *s, double value)
{
	s->values[s->n++ % SPARK_VALUES] = value;
}

/* Returns the mean of those that are known and still there, of size values from the one with this number on; NAN if none is. */
static double mean(const struct spark *s, long long from, int size)
{
	const long long n = s->n, first = n > SPARK_VALUES ? n - SPARK_VALUES : 0;
	double sum = 0;
	int known = 0;

	for (long long i = from < first ? first : from; i < from + size && i < n; i++) {
		const double value = s->values[i % SPARK_VALUES];

		sum += isnan(value) ? 0 : value;
		known += !isnan(value);
	}
	return known ? sum / known : NAN;
}

static void print_bar(FILE *f, double share)
{
	static const char *const blocks[] = { " ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }, *const ascii = " ._-=+*##";
	const int height = isnan(share) ? 0 : share >= 1 ? HEIGHTS : (int)(HEIGHTS * share + .5);

	if (!strcmp(nl_langinfo(CODESET), "UTF-8"))
		fputs(blocks[height], f);
	else
		fputc(ascii[height], f);
}

/* Bars begin at multiples of their size: they do not change when values are added to the last one. */
void spark_print(FILE *f, const struct spark *s, int columns, double most)
{
	const int size = columns < SPARK_VALUES ? (SPARK_VALUES + columns - 1) / columns : 1;
	const long long end = s->n ? (long long)(s->n - 1) / size + 1 : 0;

	double largest = most;

	for (long long i = end - columns; !most && i < end; i++) {
		const double value = mean(s, i * size, size);

		largest = value > largest ? value : largest;
	}
	for (long long i = end - columns; i < end; i++)
		print_bar(f, largest > 0 ? mean(s, i * size, size) / largest : 0);
}
