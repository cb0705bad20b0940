/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "base/die.h"
#include "base/escape.h"
#include "cudalaunchtop/launch_line.h"
#include "cudalaunchtop/launch_widths.h"
#include "cudalaunchtop/name_fit.h"

/* Names should have so many columns, if they are that long; a table of processes needs so many for all of
 * its own. */
enum { NAME = 40, WIDE = 100 };

static void widen(int *width, int n)
{
	if (n > *width)
		*width = n;
}

/* Returns the columns of a name as printed. */
static int text_width(const char *text)
{
	size_t size;
	char *buf;
	FILE *f = open_memstream(&buf, &size);
	int n;

	if (!f)
		die(ENOMEM, "a string");
	n = escape_text(f, text);
	fclose(f);
	free(buf);
	return n;
}

static struct launch_widths widest(const struct launch_line *lines, size_t n, bool narrow)
{
	struct launch_widths w = {
		.narrow = narrow, .shapes = !narrow, .comm = narrow ? 10 : 15, .grid = 11, .block = 10,
		.threads = 9, .name = INT_MAX, .lines = lines,
	};
	char buf[40];

	for (size_t i = 0; i < n; i++) {
		const struct launch_row *r = &lines[i].row;

		widen(&w.comm, text_width(r->comm));
		widen(&w.grid, launch_dim_text(buf, sizeof(buf), r->grid));
		widen(&w.block, launch_dim_text(buf, sizeof(buf), r->block));
		widen(&w.threads, snprintf(buf, sizeof(buf), "%llu", launch_threads(r)));
	}
	return w;
}

static struct name_fit *fit_of(const struct launch_line *lines, size_t n)
{
	const char **names = xcalloc(n + 1, sizeof(*names));
	struct name_fit *fit;

	for (size_t i = 0; i < n; i++)
		names[i] = lines[i].kernel ? lines[i].kernel : "";
	fit = name_fit_new(names, n);
	free(names);
	return fit;
}

int launch_columns(const struct launch_view *v, const struct launch_widths *w)
{
	size_t size;
	char *buf;
	FILE *f = top_view_line(&buf, &size);

	launch_head(f, v, w);
	fclose(f);
	free(buf);
	return v->by_process ? size : size - strlen("KERNEL");
}

struct launch_widths launch_widths(const struct launch_view *v, const struct launch_line *lines, size_t n,
				   int columns)
{
	struct launch_widths w = widest(lines, n, false);
	int wanted;

	if (columns == INT_MAX || v->by_process)
		return columns < WIDE ? widest(lines, n, true) : w;
	w.fit = fit_of(lines, n);
	wanted = name_fit_longest(w.fit) < NAME ? name_fit_longest(w.fit) : NAME;
	w.shapes = columns - launch_columns(v, &w) >= wanted;
	if (columns - launch_columns(v, &w) < wanted) {
		struct name_fit *fit = w.fit;

		w = widest(lines, n, true);
		w.fit = fit;
	}
	w.name = columns - launch_columns(v, &w);
	return w;
}

void launch_widths_free(struct launch_widths *w)
{
	name_fit_free(w->fit);
	w->fit = NULL;
}
