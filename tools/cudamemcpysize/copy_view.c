/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "abi/device.h"
#include "base/util.h"
#include "cli/hist.h"
#include "cli/row.h"
#include "cudamemcpysize/copy_view.h"
#include "sym/stack.h"
#include "view/columns.h"
#include "view/stack_view.h"

static void folded(const struct copy_row *r)
{
	char leaf[32];

	snprintf(leaf, sizeof(leaf), "[%s%s]", r->direction, r->async ? " async" : "");
	folded_line(r->comm, r->stack, leaf, r->bytes);
}

static void hist(const struct copy_view *v, const struct copy_row *r)
{
	const unsigned long long totals[] = { r->bytes, r->total, OUT_NONE };
	const struct hist_totals table = { r->count, totals[v->shown], r->spread };

	hist_table(&table, copy_row_unit(v));
	hist_text(r->slots, copy_row_unit(v));
}

static void device(const struct copy_view *v, const struct copy_row *r)
{
	char one[16], other[16];

	if (r->peer != DEVICE_NONE)
		printf(", device %s to %s", device_text(r->device, one), device_text(r->peer, other));
	else if (v->devices.several)
		printf(", device %s", device_text(r->device, one));
}

static void head(const struct copy_view *v, const struct copy_row *r)
{
	char text[32];

	if (v->pids) {
		process_text(r->pid, r->comm, r->container);
		fputs(", ", stdout);
	}
	printf("%s, %s", r->direction, r->async ? "asynchronous" : "synchronous");
	device(v, r);
	if (v->streams)
		printf(", %s", stream_text(r->stream, text));
	if (r->count && r->async)
		fputs("; time and bandwidth unknown: the calls return before the copy is done", stdout);
	else if (r->count)
		printf("; %s at %s", out_ns(r->total), out_amount(r->rate, OUT_UNIT_BYTES_PER_S));
	if (r->failed)
		printf("; %llu call%s failed", r->failed, plural(r->failed));
	putchar('\n');
}

void copy_view_row(const struct copy_view *v, const struct copy_row *r)
{
	if (v->folded) {
		folded(r);
		return;
	}
	if (out_is_json()) {
		out_row(v->fields, r);
		return;
	}
	head(v, r);
	if (r->count)
		hist(v, r);
	if (v->stacks)
		stack_text(r->stack);
	putchar('\n');
}
