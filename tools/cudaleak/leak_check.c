/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <limits.h>
#include "cli/opt.h"
#include "cudaleak/leak_check.h"

/* A larger factor only multiplies chance, and could overflow the estimates. */
enum { SAMPLE_MAX = 1000000 };

static void check_each(const struct leak_options *options)
{
	if (!options->each)
		return;
	if (options->sort == LEAK_SORT_PEAK || options->sort == LEAK_SORT_GROWTH)
		usage_error("--each cannot be combined with --sort %s",
			    options->sort == LEAK_SORT_PEAK ? "peak" : "growth");
}

void leak_check(struct leak_view *view, bool stacks, bool json)
{
	struct leak_options *options = &view->options;

	if (view->totals && (view->folded || stacks))
		usage_error("--totals cannot be combined with --folded, --stack, "
			    "--unwind, --stack-size or --lines");
	if (view->growth && (view->folded || options->each || options->older_ns))
		usage_error("--growth cannot be combined with --each, --older or --folded");
	check_each(options);
	if (options->sample > SAMPLE_MAX)
		usage_error("--sample: '%ld' is not an integer <= %d", options->sample, SAMPLE_MAX);
	if (options->sort < 0)
		options->sort = view->growth ? LEAK_SORT_GROWTH : LEAK_SORT_HELD;
	if (!view->top)
		view->top = options->each || json ? LONG_MAX : 10;
}
