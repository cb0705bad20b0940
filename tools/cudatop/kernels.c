/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/launch.h"
#include "base/die.h"
#include "base/util.h"
#include "cudatop/kernels.h"
#include "gputime/gpu_time.h"
#include "kernels/kernel_name.h"
#include "model/launches.h"

static const char graphs[] = "[graphs]", unknown[] = "[unknown]";

static struct top_kernel *top_kernel_new(struct top_kernels *k, const struct kernel *kernel)
{
	struct top_kernel *new;

	ALLOC_GROW(k->list, k->n, k->room);
	new = &k->list[k->n++];
	*new = (struct top_kernel){ .kernel = kernel };
	return new;
}

static void add_launches(struct top_kernels *k, const struct launches *launches, int pid)
{
	size_t n;
	struct launch_row *rows = launches_rows(launches, LAUNCHES_BY_BRIEF, &n);

	for (size_t i = 0; i < n; i++) {
		const struct launch_row *r = &rows[i];
		struct top_kernel *to = r->pid == pid ? top_kernel_new(k, r->kernel) : NULL;

		if (!to)
			continue;
		to->launches = r->total.launches;
		if (r->kind == LAUNCH_GRAPH && !r->kernel)
			strcpy(to->name, graphs);
		else
			snprintf(to->name, sizeof(to->name), "0x%llx", r->func);
	}
	free(rows);
}

struct reading { struct top_kernels *to; int pid; };

static void add_copies(struct top_gpu_copies *to, const struct gpu_sum *sum)
{
	to->n += sum->n;
	to->bytes += sum->bytes;
	to->ns += sum->ns;
}

static void add_tally(void *ctx, const struct gpu_tally *t)
{
	const struct reading *r = ctx;
	struct top_kernel *to;

	if (t->pid != r->pid)
		return;
	if (t->key.kind == GPUTIME_COPY) {
		add_copies(&r->to->copies[t->key.direction <= CUDA_DEFAULT ? t->key.direction : CUDA_DEFAULT], &t->total);
	} else if (t->key.kind == GPUTIME_SET) {
		add_copies(&r->to->sets, &t->total);
	} else {
		to = top_kernel_new(r->to, t->key.kernel);
		to->runs = t->total.n;
		to->ns = t->total.ns;
		strcpy(to->name, t->key.kind == GPUTIME_GRAPH ? graphs : unknown);
	}
}

/* Launches and runs have names in tables of their own: equal names differ as pointers. */
static int by_name(const void *a, const void *b)
{
	const struct top_kernel *p = a, *q = b;

	return strcmp(p->kernel ? p->kernel->brief : p->name, q->kernel ? q->kernel->brief : q->name);
}

static int kernels_most_first(unsigned long long a, unsigned long long b)
{
	return (a < b) - (a > b);
}

static int by_time(const void *a, const void *b)
{
	const struct top_kernel *p = a, *q = b;

	return kernels_most_first(p->ns, q->ns) ?: kernels_most_first(p->launches, q->launches) ?: by_name(a, b);
}

/* One for each name: a kernel has several rows, by device. */
static void join(struct top_kernels *k)
{
	size_t to = 0;

	if (!k->n)
		return;
	qsort(k->list, k->n, sizeof(*k->list), by_name);
	for (size_t i = 1; i < k->n; i++) {
		if (by_name(&k->list[to], &k->list[i])) {
			k->list[++to] = k->list[i];
			continue;
		}
		k->list[to].launches += k->list[i].launches;
		k->list[to].runs += k->list[i].runs;
		k->list[to].ns += k->list[i].ns;
	}
	k->n = to + 1;
	qsort(k->list, k->n, sizeof(*k->list), by_time);
}

void top_kernels_read(struct top_kernels *k, const struct launches *launches, const struct gpu_time *gpu, int pid)
{
	struct reading r = { k, pid };

	top_kernels_free(k);
	if (launches)
		add_launches(k, launches, pid);
	k->measured = gpu && gpu_time_measured(gpu, pid);
	if (k->measured)
		gpu_time_each(gpu, add_tally, &r);
	join(k);
}

const char *top_kernel_name(const struct top_kernel *k)
{
	return k->kernel ? kernel_called(k->kernel, KERNEL_SHORT) : k->name;
}

void top_kernels_free(struct top_kernels *k)
{
	free(k->list);
	*k = (struct top_kernels){ 0 };
}
