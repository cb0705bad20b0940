/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes numbers and text from records, as columns and as JSON; and histograms. */
#include "fuzz.h"
#include "cli/hist.h"
#include "cli/out.h"
#include "cli/row.h"
#include "view/stack_view.h"

struct row {
	unsigned long long uint, ptr, time, us;
	struct hist counts;
	const struct hist *hist;
	char *left, *right;
	const void *stack;
	double real;
	int number;
	unsigned dim[3];
	bool yes;
};

#define AT(f) offsetof(struct row, f)
static const struct field fields[] = {
	{ "uint", "UINT", 8, OUT_UINT, AT(uint) },
	{ "int", "INT", 8, OUT_INT, AT(number) },
	{ "ptr", "PTR", -8, OUT_PTR, AT(ptr) },
	{ "left", "LEFT", -8, OUT_STR, AT(left) },
	{ "right", "RIGHT", 8, OUT_STR, AT(right) },
	{ "time", "TIME", -8, OUT_TIME, AT(time) },
	{ "us", "US", 8, OUT_US, AT(us) },
	{ "dim", "DIM", -8, OUT_DIM, AT(dim) },
	{ "yes", NULL, 0, OUT_BOOL, AT(yes) },
	{ "hist", NULL, 0, OUT_HIST, AT(hist) },
	{ "real", "REAL", 8, OUT_REAL, AT(real) },
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};

static void check_spread(struct hist_spread s, unsigned long long least, unsigned long long most)
{
	CHECK(s.min == least && least <= s.p50 && s.p50 <= s.p95 && s.p95 <= s.p99 && s.p99 <= most && s.max == most);
}

static void check_hist(const struct row *r, int unit, unsigned long long least, unsigned long long most)
{
	unsigned long long rows[HIST_ROWS];

	capture(false);
	hist_text(r->hist, unit);
	CHECK(printable(captured(), true) >= 0);
	hist_rows(r->hist, rows);
	check_spread(hist_spread(r->hist, least, most), least, most);
	check_spread(hist_rows_spread(rows, least, most), least, most);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	int unit = take(&in, 1) % 3;
	unsigned long long least, most;
	struct row r = { .hist = &r.counts };
	bool json;

	json = take(&in, 1) & 1;
	out_set_json(json);
	r.uint = take(&in, 8);
	r.ptr = take(&in, 8);
	r.time = take(&in, 8);
	r.us = take(&in, 8);
	r.real = take(&in, 8) / 1e9;
	r.number = take(&in, 4);
	for (int i = 0; i < 3; i++)
		r.dim[i] = take(&in, 4);
	r.left = take_text(&in);
	r.right = take_text(&in);
	least = take(&in, 8);
	most = take(&in, 8);
	while (in.left) {
		int slot = take(&in, 2) % HIST_SLOTS;

		r.counts.slots[slot] = take(&in, 8);
		r.counts.mixed[slot / 64] ^= take(&in, 8);
	}
	capture(false);
	out_head(fields);
	out_row(fields, &r);
	if (json)
		CHECK(is_json(captured()));
	else
		CHECK(printable(captured(), true) >= 0);
	check_hist(&r, unit, least < most ? least : most, least < most ? most : least);
	free(r.left);
	free(r.right);
	return 0;
}
