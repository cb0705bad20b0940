/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "abi/device.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "ncclhang/ras_answer.h"
#include "ncclhang/ras_view.h"
#include "view/columns.h"

enum { SHOWN = 16 };	/* ranks that text has */

struct ras_row {
	unsigned long long time, hash, rank, nranks, pid, device, init_result, async_error, behind, broadcast, reduce, all_gather,
		reduce_scatter, all_reduce;
	const char *version, *host, *state;
};

OUT_WORD(row_type, "ras");

#define AT(f) offsetof(struct ras_row, f)
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* a rank of a communicator, as the RAS of NCCL has it */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "nccl_version", NULL, 0, OUT_STR, AT(version) },	/* of NCCL; null if unknown */
	{ "communicator", NULL, 0, OUT_PTR, AT(hash) },	/* its hash, as in messages of NCCL */
	{ "rank", NULL, 0, OUT_UINT, AT(rank) },	/* in the communicator */
	{ "nranks", NULL, 0, OUT_UINT, AT(nranks) },	/* of the communicator */
	{ "host", NULL, 0, OUT_STR, AT(host) },	/* its IP address; null if unknown */
	{ "host_pid", NULL, 0, OUT_UINT, AT(pid) },	/* the process, as it numbers itself on its host; null if unknown */
	{ "host_device", NULL, 0, OUT_UINT, AT(device) },	/* as the process numbers them; null if unknown */
	{ "state", NULL, 0, OUT_STR, AT(state) },	/* as RAS prints it: RUNNING, INIT, FINALIZE, ABORT, NOCOMM, UNRESPONSIVE, ... */
	{ "init_result", NULL, 0, OUT_UINT, AT(init_result) },	/* of making the communicator; null if unknown */
	{ "async_error", NULL, 0, OUT_UINT, AT(async_error) },	/* as ncclCommGetAsyncError() has it; null if unknown */
	{ "behind", NULL, 0, OUT_UINT, AT(behind) },	/* collectives behind the rank that has called the most; null if unknown */
	{ "broadcast", NULL, 0, OUT_UINT, AT(broadcast) },	/* calls of this collective; null if unknown */
	{ "reduce", NULL, 0, OUT_UINT, AT(reduce) },	/* calls of this collective; null if unknown */
	{ "all_gather", NULL, 0, OUT_UINT, AT(all_gather) },	/* calls of this collective; null if unknown */
	{ "reduce_scatter", NULL, 0, OUT_UINT, AT(reduce_scatter) },	/* calls of this collective; null if unknown */
	{ "all_reduce", NULL, 0, OUT_UINT, AT(all_reduce) },	/* calls of this collective; null if unknown */
	{ 0 }
};

static unsigned long long ras_view_known(int n)
{
	return n < 0 ? OUT_NONE : (unsigned)n;
}

/* The most calls of a rank. */
struct furthest {
	unsigned long long total, of[RAS_FUNCTIONS];	/* NO_VALUE: unknown */
};

static void note(unsigned long long *most, unsigned long long n)
{
	if (n != NO_VALUE && (*most == NO_VALUE || n > *most))
		*most = n;
}

static struct furthest furthest_of(const struct ras_comm *c)
{
	struct furthest most = { .total = NO_VALUE };

	memset(most.of, 0xff, sizeof(most.of));
	for (int i = 0; i < c->nranks; i++) {
		note(&most.total, c->ranks[i].total);
		for (int f = 0; f < RAS_FUNCTIONS; f++)
			note(&most.of[f], c->ranks[i].counts[f]);
	}
	return most;
}

/* Returns how many collectives a rank has called less; NO_VALUE if that is unknown.  Before 2.28.7 only some counts are known. */
static unsigned long long behind_of(const struct ras_rank *k, const struct furthest *most)
{
	unsigned long long n = 0;
	bool known = false;

	if (k->total != NO_VALUE)
		return most->total - k->total;
	for (int f = 0; f < RAS_FUNCTIONS; f++) {
		if (k->counts[f] == NO_VALUE)
			continue;
		known = true;
		n += most->of[f] - k->counts[f];
	}
	return known ? n : NO_VALUE;
}

static void ras_view_print_rows(const struct ras *r, const struct ras_comm *c, unsigned long long now)
{
	const struct furthest most = furthest_of(c);

	for (int i = 0; i < c->nranks; i++) {
		const struct ras_rank *k = &c->ranks[i];

		out_row(all_fields, &(struct ras_row){
			.time = now, .version = *r->version ? r->version : NULL, .hash = c->hash, .rank = ras_view_known(k->rank),
			.nranks = ras_view_known(c->size), .host = *k->host ? k->host : NULL, .pid = ras_view_known(k->pid), .device = ras_view_known(k->device),
			.state = ras_state_name(k->state), .init_result = ras_view_known(k->init_result), .async_error = ras_view_known(k->async_error),
			.behind = behind_of(k, &most), .broadcast = k->counts[RAS_BROADCAST],
			.reduce = k->counts[RAS_REDUCE], .all_gather = k->counts[RAS_ALLGATHER],
			.reduce_scatter = k->counts[RAS_REDUCESCATTER], .all_reduce = k->counts[RAS_ALLREDUCE],
		});
	}
}

static void print_rank(const struct ras_rank *k, unsigned long long behind)
{
	printf("    rank %d", k->rank);
	if (*k->host) {
		fputs(" on ", stdout);
		escape_text(stdout, k->host);
	}
	if (k->pid >= 0)
		printf(", its pid %d", k->pid);
	printf(": %s", ras_state_name(k->state));
	if (k->async_error > 0)
		printf(", asynchronous error %d", k->async_error);
	if (behind && behind != NO_VALUE)
		printf(", %llu collective%s behind", behind, plural(behind));
	putchar('\n');
}

static void print_head(const struct ras *r)
{
	fputs("  RAS of NCCL ", stdout);
	escape_text(stdout, *r->version ? r->version : "?");
	fputs(": ", stdout);
}

static void ras_view_print_text(const struct ras *r, const struct ras_comm *c)
{
	const struct furthest most = furthest_of(c);
	int n = 0;

	print_head(r);
	for (int i = 0; i < c->nranks; i++) {
		const struct ras_rank *k = &c->ranks[i];

		unsigned long long behind = behind_of(k, &most);

		if ((k->state == RAS_RUNNING || k->state == RAS_STATE_UNKNOWN) && (!behind || behind == NO_VALUE) && k->async_error <= 0)
			continue;
		if (!n++)
			puts("these ranks are not as the others");
		if (n <= SHOWN)
			print_rank(k, behind);
	}
	if (n > SHOWN)
		printf("    ... and %d more: --json has them all\n", n - SHOWN);
	if (!n && most.total == NO_VALUE)
		puts("nothing differs");
	else if (!n)
		printf("all %d ranks have called %llu collectives\n", c->nranks, most.total);
}

void ras_print(const struct ras *r, unsigned long long hash, unsigned long long now)
{
	const struct ras_comm *c = ras_find(r, hash);

	if (out_is_json()) {
		if (c)
			ras_view_print_rows(r, c, now);
	} else if (r->result != RAS_OK) {
		printf("  %s\n", ras_problem(r));
	} else if (!c) {
		print_head(r);
		puts(r->text && !r->garbled ? "no problem with this communicator" : "this communicator is unknown");
	} else {
		ras_view_print_text(r, c);
	}
}
