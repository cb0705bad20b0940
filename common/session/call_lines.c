/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/die.h"
#include "inflight/inflight_view.h"
#include "session/call_lines.h"
#include "view/stack_view.h"

void call_lines_check(void *ctx)
{
	const struct call_lines *l = ctx;

	if (l->folded && l->times)
		usage_error("--folded prints no calls; it cannot be combined with --timestamp");
}

int call_lines_stop(void *ctx, int sig)
{
	struct call_lines *l = ctx;

	if (l->folded) {
		folded_sums(&l->sums);
		return sig;
	}
	inflight_collect(&l->inflight);
	inflight_view(&l->inflight);
	return sig;
}

bool call_lines_folded(struct call_lines *l, const struct call *call, unsigned int device, const unsigned long long *values)
{
	struct profile_event e = { call->pid, call->comm, call->func, call->stack, device, { 0 } };

	memcpy(e.values, values, sizeof(e.values));
	profile_add(&l->profile, &e);
	if (l->folded)
		stack_sums_add(&l->sums, call->pid, call->comm, call->stack, call->func, values[0]);
	return l->folded;
}

int call_lines_close(void *ctx, int status)
{
	struct call_lines *l = ctx;

	inflight_free(&l->inflight);
	stack_sums_free(&l->sums);
	return status;
}
