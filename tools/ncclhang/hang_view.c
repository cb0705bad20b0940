/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "api/cuda_fn.h"
#include "api/nccl.h"
#include "base/die.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "inflight/inflight.h"
#include "nccl/communicators.h"
#include "ncclhang/hang.h"
#include "ncclhang/hang_view.h"
#include "ncclhang/messages.h"
#include "proc/process_table.h"
#include "sym/stack.h"
#include "view/columns.h"
#include "view/stack_view.h"

struct hang_row {
	unsigned long long time, about, hash, handle, rank, nranks, here, job_rank, local_rank, number, count, root, peer, stream, idle, call_age,
		wait_age;
	int pid, tid;
	unsigned int device;
	const char *verdict, *host, *comm, *container, *func, *type, *op, *call, *wait, *completion;
	bool complete, culprit, ended, replayed;
	const struct stack *stack, *main_stack;
};

OUT_WORD(row_type, "rank");

#define AT(f) offsetof(struct hang_row, f)
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* a rank of a communicator, and what it does */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "verdict", NULL, 0, OUT_STR, AT(verdict) },	/* of the communicator: idle, moving, init, call, mismatch, behind, message, pending or suspect */
	{ "about", NULL, 0, OUT_UINT, AT(about) },	/* number of the collective that the verdict is about; null if of none */
	{ "culprit", NULL, 0, OUT_BOOL, AT(culprit) },	/* the others wait for this rank, or it differs from them */
	{ "communicator", NULL, 0, OUT_PTR, AT(hash) },	/* its hash, as in messages of NCCL; null if unknown */
	{ "handle", NULL, 0, OUT_PTR, AT(handle) },	/* the ncclComm_t; null while it is being made */
	{ "rank", NULL, 0, OUT_UINT, AT(rank) },	/* in the communicator; null if unknown */
	{ "nranks", NULL, 0, OUT_UINT, AT(nranks) },	/* of the communicator; null if unknown */
	{ "here", NULL, 0, OUT_UINT, AT(here) },	/* ranks of the communicator that are traced */
	{ "host", NULL, 0, OUT_STR, AT(host) },	/* with --merge the file that has the rank; else null */
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "tid", NULL, 0, OUT_INT, AT(tid) },	/* the thread that waits, or has called last */
	{ "comm", NULL, 0, OUT_STR, AT(comm) },	/* its name */
	{ "container", NULL, 0, OUT_STR, AT(container) },
	{ "job_rank", NULL, 0, OUT_UINT, AT(job_rank) },	/* in the job, by RANK, SLURM_PROCID and the like; null if unknown */
	{ "local_rank", NULL, 0, OUT_UINT, AT(local_rank) },	/* on the machine, by LOCAL_RANK and the like; null if unknown */
	{ "device", NULL, 0, OUT_DEVICE, AT(device) },	/* of the last operation; null if unknown */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },	/* false if the communicator was made before tracing began: number is not comparable */
	{ "ended", NULL, 0, OUT_BOOL, AT(ended) },	/* the process has ended, with the communicator */
	{ "number", NULL, 0, OUT_UINT, AT(number) },	/* collectives that the rank has come to */
	{ "func", NULL, 0, OUT_STR, AT(func) },	/* of the last operation; null if there was none */
	{ "count", NULL, 0, OUT_UINT, AT(count) },	/* of its values, as passed */
	{ "data_type", NULL, 0, OUT_STR, AT(type) },	/* of its values: f32, bf16, ... */
	{ "operator", NULL, 0, OUT_STR, AT(op) },	/* sum, prod, max, min, avg or custom */
	{ "root", NULL, 0, OUT_UINT, AT(root) },	/* rank; null if there is none */
	{ "peer", NULL, 0, OUT_UINT, AT(peer) },	/* rank; null if there is none */
	{ "stream", NULL, 0, OUT_STREAM, AT(stream) },	/* of the operation */
	{ "replayed", NULL, 0, OUT_BOOL, AT(replayed) },	/* the launch of a CUDA graph has begun it, not a call */
	{ "completion", NULL, 0, OUT_STR, AT(completion) },	/* of the operation: complete or pending; null if unknown */
	{ "idle_ns", NULL, 0, OUT_UINT, AT(idle) },	/* since the rank last called, or an operation of it was found to be complete; null if unknown */
	{ "call", NULL, 0, OUT_STR, AT(call) },	/* a function of NCCL that has not returned; null if there is none */
	{ "call_ns", NULL, 0, OUT_UINT, AT(call_age) },	/* since its entry; null if there is none */
	{ "wait", NULL, 0, OUT_STR, AT(wait) },	/* a function in which the process waits for the GPU; null if there is none */
	{ "wait_ns", NULL, 0, OUT_UINT, AT(wait_age) },	/* since its entry, or since tracing began; null if there is none */
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },	/* of the thread, if culprit, in one look if it waits, if all ranks have come, or with --all-stacks */
	{ "main_stack", NULL, 0, OUT_STACK, AT(main_stack) },	/* of the first thread of the process, if it is another one */
	{ 0 }
};

static unsigned long long hang_view_known(int n)
{
	return n < 0 ? OUT_NONE : (unsigned)n;
}

static unsigned long long hang_view_since(unsigned long long now, unsigned long long then)
{
	return now > then ? now - then : 0;
}

static bool op_is_last(const struct hang_rank *r)
{
	return r->op == r->last;
}

/* ---- JSON */

static struct hang_row hang_view_row_of(const struct hang *h, const struct hang_rank *r, unsigned long long now)
{
	static const char *const completions[] = { NULL, "pending", "complete" };
	const struct comm_op *op = r->op;
	struct hang_row row = {
		.time = now, .verdict = hang_words[h->verdict], .about = h->number ?: OUT_NONE, .culprit = r->culprit, .hash = h->hash ?: OUT_NONE,
		.handle = r->m ? r->m->handle : OUT_NONE, .rank = hang_view_known(r->rank), .nranks = h->nranks ? (unsigned)h->nranks : OUT_NONE,
		.here = h->n, .pid = r->pid, .tid = r->tid, .comm = r->call ? r->call->comm : r->wait ? r->wait->comm : r->m ? r->m->comm : NULL,
		.job_rank = hang_view_known(r->name.rank), .local_rank = hang_view_known(r->name.local_rank), .device = r->m ? r->m->device : DEVICE_NONE,
		.complete = h->whole, .ended = r->has_ended, .number = r->number, .count = OUT_NONE, .root = OUT_NONE, .peer = OUT_NONE, .stream = OUT_NONE,
		.idle = r->moved ? hang_view_since(now, r->moved) : OUT_NONE, .call = r->call ? r->call->func : NULL, .call_age = r->call ? r->call->age : OUT_NONE,
		.wait = r->wait ? r->wait->func : NULL, .wait_age = r->wait ? r->wait->age : OUT_NONE, .stack = r->stack,
		.main_stack = r->main_stack,
	};
	const struct cuda_args *args = op ? &cuda_fns[op->func].args : NULL;

	if (!op)
		return row;
	row.func = cuda_fns[op->func].name;
	row.count = args->count ? op->count : OUT_NONE;
	row.type = args->dtype ? nccl_type_name(op->type) : NULL;
	row.op = args->redop ? nccl_operator_name(op->op) : NULL;
	row.root = args->root ? hang_view_known(op->other) : OUT_NONE;
	row.peer = args->peer ? hang_view_known(op->other) : OUT_NONE;
	row.stream = stream_of(&cuda_fns[op->func], op->stream);
	row.replayed = op->replayed;
	row.completion = op_is_last(r) ? completions[r->complete] : NULL;
	return row;
}

/* ---- Text */

/* Some ranks of a communicator, by their places in it, in order. */
struct some { const size_t *at; size_t n; };

static bool follows(const struct hang *h, size_t next, size_t rank)
{
	const struct hang_rank *r = &h->ranks[rank], *n = &h->ranks[next];

	return next == rank + 1 && r->rank >= 0 && n->rank == r->rank + 1;
}

/* Prints "rank 3" or "ranks 0-2,4"; of processes of unknown rank their number. */
static void print_ranks(const struct hang *h, struct some s)
{
	size_t known = 0;

	for (size_t i = 0; i < s.n; i++)
		known += h->ranks[s.at[i]].rank >= 0;
	if (h->unseen && !known) {
		printf("%zu process%s", s.n, s.n == 1 ? "" : "es");
		return;
	}
	printf("rank%s ", plural(s.n));
	for (size_t i = 0, last; i < s.n; i = last + 1) {
		const char *comma = i ? "," : "";
		int rank = h->ranks[s.at[i]].rank;

		last = i;
		while (last + 1 < s.n && follows(h, s.at[last + 1], s.at[last]))
			last++;
		if (rank < 0)
			printf("%s?", comma);
		else
			printf(last > i ? "%s%d-%d" : "%s%d", comma, rank,
			       h->ranks[s.at[last]].rank);
	}
}

/* Returns how many there are. */
static size_t print_culprits(const struct hang *h, bool others)
{
	size_t *at = xcalloc(h->n + 1, sizeof(*at)), n = 0;

	for (size_t i = 0; i < h->n; i++)
		if (h->ranks[i].culprit != others)
			at[n++] = i;
	print_ranks(h, (struct some){ at, n });
	free(at);
	return n;
}

void hang_print_operation(FILE *f, const struct comm_op *op)
{
	const struct cuda_fn *fn = &cuda_fns[op->func];
	const char *type = nccl_type_name(op->type), *reduce = nccl_operator_name(op->op);

	fputs(fn->name, f);
	if (!op->message)
		fprintf(f, " number %llu", op->number);
	if (fn->args.count)
		fprintf(f, " of %llu %s", op->count, type ?: "values of an unknown type");
	if (fn->args.redop)
		fprintf(f, ", %s", reduce ?: "unknown operator");
	if (fn->args.root || fn->args.peer)
		fprintf(f, ", %s %d", fn->args.root ? "root" : "peer", op->other);
	if (op->replayed)
		fputs(", in a CUDA graph", f);
}

static bool some_culprit(const struct hang *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->ranks[i].culprit)
			return true;
	return false;
}

void hang_print_about(const struct hang *h)
{
	if (h->op)
		hang_print_operation(stdout, h->op);
	else
		printf("%s number %llu", h->func < 0 ? "the collective" : cuda_fns[h->func].name, h->number);
}

static bool some_culprit_several(const struct hang *h)
{
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		n += h->ranks[i].culprit;
	return n > 1;
}

/* Of a mismatch: one side is in a CUDA graph, and the other is not. */
static void print_replay(const struct hang *h)
{
	size_t replayed = 0, culprits = 0;

	for (size_t i = 0; i < h->n; i++) {
		culprits += h->ranks[i].culprit;
		replayed += h->ranks[i].culprit && h->ranks[i].op && h->ranks[i].op->replayed;
	}
	if (h->op && replayed == culprits && !h->op->replayed)
		printf(": %s launched a CUDA graph more often than the others", culprits > 1 ? "they have" : "it has");
	else if (h->op && !replayed && h->op->replayed)
		printf(": %s launched a CUDA graph less often than the others", culprits > 1 ? "they have" : "it has");
}

static void print_verdict(const struct hang *h, unsigned long long now, bool caused)
{
	const char *func = h->func < 0 ? "NCCL" : cuda_fns[h->func].name;
	const char *time = h->moved ? out_ns(hang_view_since(now, h->moved)) : "longer than it is traced";

	switch (h->verdict) {
	case HANG_BEHIND:
		printf(" %s not come to ", print_culprits(h, false) > 1 ? "have" : "has");
		hang_print_about(h);
		printf(", for %s", time);
		if (h->op && h->op->replayed)
			printf(": %s launched the CUDA graph less often", some_culprit_several(h) ? "they have" : "it has");
		break;
	case HANG_MISMATCH:
		print_culprits(h, false);
		if (h->op) {
			printf(" called something else than ");
			hang_print_about(h);
		} else {
			printf(" call different things as number %llu", h->number);
		}
		printf(", %s ago", time);
		print_replay(h);
		break;
	case HANG_INIT:
	case HANG_CALL:
		printf(" %s in %s for %s", print_culprits(h, true) > 1 ? "are" : "is", func, time);
		if (h->verdict == HANG_INIT && h->nranks > (int)h->n)
			printf("; %d of %d ranks have not come on this machine", h->nranks - (int)h->n, h->nranks);
		else if (some_culprit(h)) {
			fputs("; ", stdout);
			printf(" %s not", print_culprits(h, false) > 1 ? "are" : "is");
		}
		break;
	case HANG_MESSAGE:
		messages_print(h);
		printf(", for %s", time);
		break;
	case HANG_PENDING:
		fputs("all ranks here wait", stdout);
		if (h->number || h->op) {
			fputs(h->number ? " for " : " for messages: ", stdout);
			hang_print_about(h);
		} else if (h->unknown) {
			fputs(", perhaps for an operation in a CUDA graph", stdout);
		}
		printf(", for %s%s", time, caused ? "" : ": the GPU, the network, or a rank elsewhere");
		if (h->nranks > (int)h->n)
			printf("; %d of %d ranks are not traced here, or have ended", h->nranks - (int)h->n, h->nranks);
		break;
	case HANG_SUSPECT:
		fputs(print_culprits(h, true) > 1 ? " wait, " : " waits, ", stdout);
		printf(" %s not; earlier calls are unknown", print_culprits(h, false) > 1 ? "do" : "does");
		break;
	case HANG_MOVING:
		printf("last call or completion %s ago", time);
		break;
	default:
		printf("nothing is pending");
		break;
	}
	putchar('\n');
}

/* State of a rank, without numbers that differ between ranks: returns it; the caller frees it. */
static char *activity(const struct hang_rank *r)
{
	static const char *const completions[] = { "", ", not complete", ", complete" };
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(0, "out of memory");
	if (r->op) {
		hang_print_operation(f, r->op);
		fputs(op_is_last(r) ? completions[r->complete] : "", f);
	} else if (r->has_ended) {
		fprintf(f, "came to number %llu; its process has ended", r->number);
	} else if (r->is_missing) {
		fputs("no communicator was seen", f);
	} else if (r->m) {
		fputs(r->m->whole ? "no operation" : "no operation seen", f);
	}
	if (r->call)
		fprintf(f, "%sin %s", r->m ? "; " : "", r->call->func);
	else if (r->wait)
		fprintf(f, "; in %s", r->wait->func);
	else if (!r->has_ended)
		fputs(r->is_unread ? "; too many threads to look at" : "; in no call", f);
	fclose(f);
	return text;
}

/* State of a rank, its place, and the first place of those that do the same. */
struct doing { char *text; size_t at, first; };

static int hang_view_by_text(const void *a, const void *b)
{
	const struct doing *p = a, *q = b;

	return strcmp(p->text, q->text) ?: (p->at > q->at) - (p->at < q->at);
}

static int by_first(const void *a, const void *b)
{
	const struct doing *p = a, *q = b;

	if (p->first != q->first)
		return p->first < q->first ? -1 : 1;
	return (p->at > q->at) - (p->at < q->at);
}

/* Returns what each rank does, those that do the same together, in the order of their first ranks;
 * the caller frees it, and the texts. */
static struct doing *list_doings(const struct hang *h)
{
	struct doing *all = xcalloc(h->n + 1, sizeof(*all));

	for (size_t i = 0; i < h->n; i++)
		all[i] = (struct doing){ activity(&h->ranks[i]), i, i };
	qsort(all, h->n, sizeof(*all), hang_view_by_text);
	for (size_t i = 1; i < h->n; i++)
		if (!strcmp(all[i - 1].text, all[i].text))
			all[i].first = all[i - 1].first;
	qsort(all, h->n, sizeof(*all), by_first);
	return all;
}

void hang_print_ranks(const struct hang *h, unsigned long long now)
{
	size_t *at = xcalloc(h->n + 1, sizeof(*at));
	struct doing *all = list_doings(h);

	for (size_t i = 0, end; i < h->n; i = end) {
		unsigned long long moved = 0;

		for (end = i; end < h->n && all[end].first == all[i].first; end++) {
			at[end] = all[end].at;
			if (h->ranks[at[end]].moved > moved)
				moved = h->ranks[at[end]].moved;
		}
		fputs("  ", stdout);
		print_ranks(h, (struct some){ at + i, end - i });
		printf(": %s", all[i].text);
		if (moved)
			printf(", for %s", out_ns(hang_view_since(now, moved)));
		putchar('\n');
	}
	for (size_t i = 0; i < h->n; i++)
		free(all[i].text);
	free(all);
	free(at);
}

void hang_print_line(const struct hang *h, unsigned long long now, bool caused)
{
	if (h->unseen)
		printf("%zu processes with NCCL, no communicator seen", h->n);
	else
		fputs("communicator ", stdout);
	if (h->hash)
		printf("0x%llx", h->hash);
	else if (!h->unseen)
		putchar('?');
	if (h->nranks)
		printf(" of %d rank%s, %zu here", h->nranks, plural(h->nranks), h->n);
	printf(": %s: ", hang_words[h->verdict]);
	print_verdict(h, now, caused);
}

void hang_print_rows(const struct hang *h, struct process_table *processes, unsigned long long now)
{
	for (size_t i = 0; i < h->n; i++) {
		struct hang_row row = hang_view_row_of(h, &h->ranks[i], now);

		row.container = process_container(processes, row.pid);
		out_row(all_fields, &row);
	}
}
