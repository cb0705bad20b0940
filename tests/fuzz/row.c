/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes numbers and text from records, as columns and as JSON; and histograms. */
#include "fuzz.h"
#include "cli/hist.h"
#include "cli/out.h"
#include "cli/row.h"
#include "view/stack_view.h"

struct row {
	unsigned long long uint, ptr, time, us, slots[HIST_SLOTS];
	const unsigned long long *hist;
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

static void check_hist(const struct row *r, int shift)
{
	unsigned long long least = 0, most = ~0ull, last = 0;

	capture(false);
	hist_text(r->slots, shift % 3);
	CHECK(printable(captured(), true) >= 0);
	for (int percent = 0; percent <= 100; percent += 10) {
		unsigned long long value = hist_percentile(r->slots, percent, least, most);

		CHECK(value >= last);
		last = value;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	int shift = take(&in, 1) % HIST_SLOTS;
	struct row r = { .hist = r.slots };
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
	while (in.left)
		r.slots[take(&in, 1) % HIST_SLOTS] = take(&in, 8);
	capture(false);
	out_head(fields);
	out_row(fields, &r);
	if (json)
		CHECK(is_json(captured()));
	else
		CHECK(printable(captured(), true) >= 0);
	check_hist(&r, shift);
	free(r.left);
	free(r.right);
	return 0;
}
