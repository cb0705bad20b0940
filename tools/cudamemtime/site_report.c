/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "cli/out.h"
#include "cudamemtime/site_report.h"
#include "cudamemtime/site_row.h"
#include "model/gpuprobe_totals.h"

static bool is_kernel(const struct site *site)
{
	return !strcmp(site->kind, "kernel");
}

struct ranked {
	const struct gpuprobe_total *total;
	const struct site *site;
	struct kernel *kernel;
};

static int more(unsigned long long a, unsigned long long b)
{
	return (a < b) - (a > b);
}

/* A kernel's own time stands before its accesses. */
static int compare(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	int order = more(x->kernel->cycles, y->kernel->cycles);

	if (!order && x->kernel != y->kernel)
		order = strcmp(x->kernel->symbol, y->kernel->symbol);
	if (!order)
		order = is_kernel(y->site) - is_kernel(x->site);
	if (!order)
		order = more(x->total->sum.sum, y->total->sum.sum);
	return order ? order : (x->total->site > y->total->site) - (x->total->site < y->total->site);
}

static struct ranked *rank(const struct gpuprobe_total *totals, size_t n, struct kernels *kernels)
{
	struct ranked *all = xcalloc(n + 1, sizeof(*all));

	for (size_t i = 0; i < n; i++) {
		const struct site *site = &totals[i].code->sites.site[totals[i].site];

		all[i] = (struct ranked){ &totals[i], site, kernels_get(kernels, site->kernel) };
		all[i].kernel->cycles = 0;
	}
	for (size_t i = 0; i < n; i++)
		if (!is_kernel(all[i].site))
			all[i].kernel->cycles += totals[i].sum.sum;
	qsort(all, n, sizeof(*all), compare);
	return all;
}

void site_report(const struct gpuprobe_modules *m, struct kernels *kernels)
{
	unsigned long long now = clock_ns();
	size_t n;
	struct gpuprobe_total *totals = gpuprobe_totals(m, &n);
	struct ranked *all = rank(totals, n, kernels);

	if (!out_is_json())
		printf("[%s]%s\n", out_clock(), n ? "" : " no accesses measured");
	for (size_t i = 0; i < n; i++) {
		struct site_row row;

		site_row(&row, all[i].total, all[i].kernel, now);
		site_row_print(&row, !i || all[i].kernel != all[i - 1].kernel);
	}
	free(all);
	free(totals);
}
