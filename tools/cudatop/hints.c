/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "cli/out.h"
#include "cudatop/hints.h"
#include "cudatop/limits.h"
#include "cudatop/rows.h"

static bool fails(const struct top_row *r)
{
	return r->errors;
}

static bool is_behind(const struct top_row *r)
{
	return r->behind != OUT_NONE && r->behind && !r->launches;	/* one that launches is only slower */
}

static bool grows(const struct top_row *r)
{
	return r->grows;
}

static bool loads(const struct top_row *r)
{
	return r->load_share >= top_limits[LIMIT_LOADS];
}

static bool waits(const struct top_row *r)
{
	return r->wait_share >= top_limits[LIMIT_WAITS];
}

static bool copies(const struct top_row *r)
{
	const double many = top_limits[LIMIT_MANY_COPIES] * r->interval;

	return r->interval > 0 && r->copies >= many && (double)r->bytes / r->copies < top_limits[LIMIT_SMALL_COPY];
}

static bool launches(const struct top_row *r)
{
	return r->launch_rate >= top_limits[LIMIT_MANY_LAUNCHES] && !waits(r);
}

/* Launches return at once: a program that launches little and does not wait either does something else. */
static bool may_idle(const struct top_row *r)
{
	const bool busy = r->gpu_share >= top_limits[LIMIT_BUSY];	/* false if it is not measured */
	const bool few = r->launch_rate < top_limits[LIMIT_MANY_LAUNCHES];

	return r->launches && few && r->wait_share < top_limits[LIMIT_FEW_WAITS] && !busy;
}

const struct top_hint top_hints[] = {
	{ "fails", fails, "cudatrace -x", false, "calls that fail, their errors" },
	{ "behind", is_behind, "ncclhang", false, "what the rank does instead" },
	{ "grows", grows, "cudaleak --growth", true, "lines that allocate what stays" },
	{ "grows", grows, "cudaleak --account", false, "tensors, free pieces, libraries" },
	{ "loads", loads, "cudatrace -e jit -k", true, "lines that load or compile code" },
	{ "waits", waits, "cudasynclatency -k", true, "lines that wait for the GPU" },
	{ "copies", copies, "cudamemcpysize -k", true, "lines that make small copies" },
	{ "launches", launches, "cudalaunchtop -k", true, "lines that launch small kernels" },
	{ "GPU idle?", may_idle, "cudalaunchtop --gaps", true, "lines it waits for; easiest with -c" },
	{ 0 }
};

const char *top_hint_word(const struct top_row *r)
{
	for (const struct top_hint *h = top_hints; h->word; h++)
		if (h->applies(r))
			return h->word;
	return "-";
}
