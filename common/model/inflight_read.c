/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "bpf/map_backend.h"
#include "model/inflight_read.h"
#include "model/inflight_shared.h"
#include "model/inflight_state.h"
#include "probe/probe_source.h"
#include "probe/probes.h"
#include "proc/user.h"

/* Return true if the call is to be kept; sets its user. */
static bool take(struct inflight *r, struct inflight_taken *t)
{
	int pid = t->call.stack.head.pid;

	if (t->call.preexisting && !r->is_early(r->ctx, pid))
		return false;
	t->user = proc_user(pid);
	return quota_take(&r->quota, t->user, pid, 1);
}

/* EAGAIN: a million threads were visited, and there are more. */
static bool next(FILE *f, struct inflight_call *c)
{
	while (fread(c, sizeof(*c), 1, f) != 1) {
		if (!ferror(f) || errno != EAGAIN)
			return false;
		clearerr(f);
	}
	return true;
}

static struct inflight_taken *read_shared(struct inflight *r, size_t *n)
{
	size_t size;
	struct inflight_call *calls = bmaps_run("inflight_calls", sizeof(*calls), &size);
	struct inflight_taken *all = xcalloc(size / sizeof(*calls) + 1, sizeof(*all));

	for (size_t i = 0; i < size / sizeof(*calls); i++) {
		struct inflight_taken *t = &all[*n];

		t->call = calls[i];
		t->call.comm[sizeof(t->call.comm) - 1] = 0;
		if (t->call.id < (unsigned)r->probes->source->n && !t->call.preexisting && inflight_shared(r, &t->call) && take(r, t))
			++*n;
	}
	free(calls);
	return all;
}

/* Reads all of it first: the kernel's list of threads goes on while stacks are looked at. */
struct inflight_taken *inflight_read(struct inflight *r, size_t *n)
{
	struct inflight_taken *all = NULL, t;
	FILE *f;
	int fd;

	*n = 0;
	if (bmaps_are_shared())
		return read_shared(r, n);
	fd = bpf_iter_create(bpf_link__fd(r->link));
	f = fd < 0 ? NULL : fdopen(fd, "r");
	if (!f)
		warning(errno, "cannot read which calls are in flight");
	while (f && next(f, &t.call)) {
		if (!take(r, &t))
			continue;
		if (!(*n & (*n - 1)))
			all = xrealloc(all, *n ? 2 * *n : 1, sizeof(*all));
		all[(*n)++] = t;
	}
	if (f)
		fclose(f);
	return all;
}
