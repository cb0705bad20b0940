/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/cuda_fn.h"
#include "base/die.h"
#include "base/escape.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/row.h"
#include "inflight/inflight.h"
#include "nccl/communicators.h"
#include "ncclhang/cause_view.h"
#include "ncclhang/hang.h"
#include "ncclhang/hang_report.h"
#include "ncclhang/hang_view.h"
#include "ncclhang/messages.h"
#include "ncclhang/wait_graph.h"
#include "proc/process_table.h"
#include "sym/stack.h"
#include "view/stack_view.h"

/* In text: communicators of a hang, different stacks, and steps of a circle. */
enum { GROUPS = 16, STACKS = 16, STEPS = 8 };

static const char *cause_view_comm_of(const struct hang_rank *r)
{
	return r->call ? r->call->comm : r->wait ? r->wait->comm : r->m ? r->m->comm : NULL;
}

/* Returns the message for which the step waits; its rank is NULL if it is none. */
static struct unmatched cause_view_message_of(const struct wait_step *s)
{
	return s->message ? messages_find(s->h, s->from, s->to) : (struct unmatched){ 0 };
}

/* ---- JSON */

struct step_row {
	unsigned long long time, number, step, pid, tid, job_rank, rank, hash, about, for_pid, for_job_rank, waiting, communicators, idle;
	const char *kind, *why, *host, *comm, *func;
	const struct stack *stack;
};

OUT_WORD(row_type, "cause");

#define AT(f) offsetof(struct step_row, f)
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* what a hang has for a cause: a process, a communicator, or a step of a circle; before its ranks */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "hang", NULL, 0, OUT_UINT, AT(number) },	/* its number in the report, from 1 on */
	{ "kind", NULL, 0, OUT_STR, AT(kind) },	/* root: a process that waits for none of those that wait for it; circle; or communicator */
	{ "step", NULL, 0, OUT_UINT, AT(step) },	/* of a circle, from 1 on: each waits for the next one, and the last for the first */
	{ "waiting", NULL, 0, OUT_UINT, AT(waiting) },	/* processes that wait for the root, or in the circle or communicator */
	{ "communicators", NULL, 0, OUT_UINT, AT(communicators) },	/* in which they wait */
	{ "communicator", NULL, 0, OUT_PTR, AT(hash) },	/* in which the others wait for the root, or this process for the next one; null if unknown */
	{ "why", NULL, 0, OUT_STR, AT(why) },	/* the verdict on that communicator: see verdict of a rank */
	{ "func", NULL, 0, OUT_STR, AT(func) },	/* that is waited for; null if unknown */
	{ "about", NULL, 0, OUT_UINT, AT(about) },	/* its number in the communicator, or of a message among those to or from that rank; null if unknown */
	{ "host", NULL, 0, OUT_STR, AT(host) },	/* with --merge the file that has the process; else null */
	{ "pid", NULL, 0, OUT_UINT, AT(pid) },	/* these five: of the process; null of a communicator */
	{ "tid", NULL, 0, OUT_UINT, AT(tid) },	/* the thread that waits, or has called last */
	{ "comm", NULL, 0, OUT_STR, AT(comm) },	/* its name */
	{ "job_rank", NULL, 0, OUT_UINT, AT(job_rank) },	/* in the job, by RANK, SLURM_PROCID and the like; null if unknown */
	{ "communicator_rank", NULL, 0, OUT_UINT, AT(rank) },	/* in the communicator; null if unknown */
	{ "for_pid", NULL, 0, OUT_UINT, AT(for_pid) },	/* the process that this one waits for; null if not in a circle */
	{ "for_job_rank", NULL, 0, OUT_UINT, AT(for_job_rank) },	/* its rank in the job; null if unknown */
	{ "idle_ns", NULL, 0, OUT_UINT, AT(idle) },	/* since something was called or completed in the communicator; null if unknown */
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },	/* of the thread */
	{ 0 }
};

static unsigned long long cause_view_known(int n)
{
	return n < 0 ? OUT_NONE : (unsigned)n;
}

static unsigned long long cause_view_since(unsigned long long now, unsigned long long then)
{
	return now > then ? now - then : 0;
}

static void print_row(const struct cause_printer *p, const struct cause *c, size_t number, size_t i)
{
	const struct wait_step *s = &c->steps[i];
	const struct hang_rank *r = s->from ?: s->to, *next = s->from ? s->to : NULL;
	const struct unmatched u = cause_view_message_of(s);
	const char *host = r && r->report ? r->report->host : NULL;
	struct step_row row = {
		.time = p->now, .number = number, .kind = cause_words[c->kind], .step = c->kind == CAUSE_CIRCLE ? i + 1 : OUT_NONE,
		.waiting = c->waiting, .communicators = c->ngroups, .hash = s->h->hash ?: OUT_NONE,
		.why = hang_words[s->h->verdict],
		.func = u.rank ? u.sends ? "ncclSend" : "ncclRecv" : s->h->func >= 0 ? cuda_fns[s->h->func].name : NULL,
		.about = u.rank ? u.number ?: OUT_NONE : s->h->number ?: OUT_NONE, .host = host, .pid = r ? (unsigned)r->pid : OUT_NONE,
		.tid = r ? (unsigned)r->tid : OUT_NONE, .comm = r ? cause_view_comm_of(r) : NULL, .job_rank = r ? cause_view_known(r->name.rank) : OUT_NONE,
		.rank = r ? cause_view_known(r->rank) : OUT_NONE, .for_pid = next ? (unsigned)next->pid : OUT_NONE,
		.for_job_rank = next ? cause_view_known(next->name.rank) : OUT_NONE,
		.idle = s->h->moved ? cause_view_since(p->now, s->h->moved) : OUT_NONE, .stack = r ? r->stack : NULL,
	};

	out_row(all_fields, &row);
}

static void cause_view_print_rows(const struct cause_printer *p, const struct hang *h)
{
	if (p->rows)
		p->rows(p->ctx, h);
	else
		hang_print_rows(h, p->processes, p->now);
}

static void print_json(const struct cause_printer *p, const struct cause *c, size_t number)
{
	for (size_t i = 0; i < c->n; i++)
		print_row(p, c, number, i);
	for (size_t i = 0; i < c->ngroups; i++) {
		cause_view_print_rows(p, c->groups[i]);
		if (p->after)
			p->after(p->ctx, c->groups[i]);
	}
}

/* ---- Stacks in text: equal ones once, with their ranks */

struct shown { const struct hang_rank *r; char *text; size_t first; bool printed; };

struct shown_list { struct shown *all; size_t n, room; };

static int by_process(const void *a, const void *b)
{
	const struct shown *p = a, *q = b;
	const char *s = p->r->report ? p->r->report->host : "", *t = q->r->report ? q->r->report->host : "";

	return strcmp(s, t) ?: (p->r->pid > q->r->pid) - (p->r->pid < q->r->pid) ?: (p->r->tid > q->r->tid) - (p->r->tid < q->r->tid);
}

static int cause_view_by_text(const void *a, const void *b)
{
	const struct shown *p = a, *q = b;

	return strcmp(p->text, q->text) ?: p->r->name.rank - q->r->name.rank ?: p->r->rank - q->r->rank ?: p->r->pid - q->r->pid;
}

static void cause_view_add_rank(struct shown_list *l, const struct hang_rank *r)
{
	if (r->has_ended)
		return;
	ALLOC_GROW(l->all, l->n, l->room);
	l->all[l->n++] = (struct shown){ .r = r };
}

static char *cause_view_text_of(const struct hang_rank *r)
{
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(0, "out of memory");
	if (r->report)
		hang_report_stack(f, r->report);
	else
		stack_lines(f, r->stack, "        ");
	if (r->main_stack) {
		fputs("    its first thread\n", f);
		stack_lines(f, r->main_stack, "        ");
	}
	fclose(f);
	return text;
}

/* By the job's rank, or where that is not known by the communicator's. */
static int cause_view_number_of(const struct hang_rank *r)
{
	return r->name.rank >= 0 ? r->name.rank : r->rank;
}

static void print_name(const struct hang_rank *r)
{
	if (cause_view_number_of(r) < 0)
		printf("process %d", r->pid);
	else
		printf("%s %d", r->name.rank >= 0 ? "RANK" : "rank", cause_view_number_of(r));
}

static void print_thread(const struct cause_printer *p, const struct hang_rank *r)
{
	const char *container = r->report ? r->report->container : process_container(p->processes, r->pid);
	const char *comm = cause_view_comm_of(r);

	if (r->rank >= 0)
		printf("    rank %d: ", r->rank);
	else
		fputs("    ", stdout);
	if (r->report) {
		escape_text(stdout, r->report->host);
		fputs(": ", stdout);
	}
	printf("pid %d", r->pid);
	if (r->name.rank >= 0)
		printf(", RANK %d", r->name.rank);
	if (r->name.local_rank >= 0)
		printf(", LOCAL_RANK %d", r->name.local_rank);
	if (container) {
		fputs(", container ", stdout);
		escape_text(stdout, container);
	}
	printf(", thread %d", r->tid);
	if (comm && *comm) {
		fputs(" (", stdout);
		escape_text(stdout, comm);
		putchar(')');
	}
	putchar('\n');
}

/* Prints "0-2,4" of ranks in order. */
static void print_numbers(const struct shown *all, size_t n)
{
	for (size_t i = 0, last; i < n; i = last + 1) {
		last = i;
		while (last + 1 < n && cause_view_number_of(all[last + 1].r) == cause_view_number_of(all[last].r) + 1)
			last++;
		printf(last > i ? "%s%d-%d" : "%s%d", i ? "," : "", cause_view_number_of(all[i].r), cause_view_number_of(all[last].r));
	}
}

static void print_alike(const struct cause_printer *p, const struct shown *all, size_t n)
{
	if (n == 1) {
		print_thread(p, all->r);
	} else if (cause_view_number_of(all->r) < 0) {
		printf("    %zu processes: pid %d and %zu more, alike\n", n, all->r->pid, n - 1);
	} else {
		fputs(all->r->name.rank >= 0 ? "    RANK " : "    ranks ", stdout);
		print_numbers(all, n);
		printf(": pid %d and %zu more, alike\n", all->r->pid, n - 1);
	}
	fputs(all->text, stdout);
}

/* Of a process that is in several communicators, one row counts. */
static void drop_repeated(struct shown_list *l)
{
	size_t n = 0;

	if (l->n)
		qsort(l->all, l->n, sizeof(*l->all), by_process);
	for (size_t i = 0; i < l->n; i++) {
		if (n && !by_process(&l->all[n - 1], &l->all[i])) {
			if (!l->all[n - 1].r->stack && l->all[i].r->stack)
				l->all[n - 1] = l->all[i];
			continue;
		}
		l->all[n++] = l->all[i];
	}
	l->n = n;
}

/* Fewest first: they are those that differ. */
struct alike { size_t at, n; };

static int fewest_first(const void *a, const void *b)
{
	const struct alike *p = a, *q = b;

	return p->n != q->n ? (p->n > q->n) - (p->n < q->n) : (p->at > q->at) - (p->at < q->at);
}

static void print_stacks(const struct cause_printer *p, struct shown_list *l)
{
	struct alike *alike = xcalloc(l->n + 1, sizeof(*alike));
	size_t n = 0;

	drop_repeated(l);
	for (size_t i = 0; i < l->n; i++)
		l->all[i].text = cause_view_text_of(l->all[i].r);
	if (l->n)
		qsort(l->all, l->n, sizeof(*l->all), cause_view_by_text);
	for (size_t i = 0; i < l->n; i++) {
		if (i && !strcmp(l->all[i - 1].text, l->all[i].text))
			alike[n - 1].n++;
		else
			alike[n++] = (struct alike){ i, 1 };
	}
	if (n)
		qsort(alike, n, sizeof(*alike), fewest_first);
	for (size_t i = 0; i < n && i < STACKS; i++)
		print_alike(p, l->all + alike[i].at, alike[i].n);
	if (n > STACKS)
		printf("    ... and %zu more stacks: --json has them all\n", n - STACKS);
	for (size_t i = 0; i < l->n; i++)
		free(l->all[i].text);
	free(alike);
	free(l->all);
	*l = (struct shown_list){ 0 };
}

/* ---- Text */

static void print_message(const struct unmatched *u)
{
	fputs(u->sends ? "ncclSend" : "ncclRecv", stdout);
	if (u->number)
		printf(" number %llu", u->number);
}

static void print_group(const struct hang *h)
{
	if (h->hash)
		printf("communicator 0x%llx", h->hash);
	else
		fputs("a communicator", stdout);
}

/* Prints "RANK 0-2,4", and ends the verb for one of them. */
static void print_roots(const struct cause *c)
{
	struct shown *all = xcalloc(c->n, sizeof(*all));

	for (size_t i = 0; i < c->n; i++)
		all[i] = (struct shown){ .r = c->steps[i].to, .text = "" };
	qsort(all, c->n, sizeof(*all), cause_view_by_text);
	if (c->n == 1) {
		print_name(all->r);
	} else if (cause_view_number_of(all->r) < 0) {
		printf("%zu processes", c->n);
	} else {
		fputs(all->r->name.rank >= 0 ? "RANK " : "ranks ", stdout);
		print_numbers(all, c->n);
	}
	free(all);
}

static void print_root(const struct cause *c)
{
	const struct wait_step *s = c->steps;
	const struct unmatched u = cause_view_message_of(s);
	bool one = c->n == 1;

	print_roots(c);
	if (u.rank) {
		printf(" %s not %s what ", one ? "does" : "do", u.sends ? "receive" : "send");
		print_name(u.rank);
		fputs(u.sends ? " sends: " : " receives: ", stdout);
		print_message(&u);
		if (u.number)
			printf(" there, %llu %s here", u.peers, u.sends ? "ncclRecv" : "ncclSend");
	} else if (s->to->has_ended) {
		printf(" %s ended, and not come to ", one ? "has" : "have");
		hang_print_about(s->h);
	} else if (s->h->verdict == HANG_BEHIND) {
		printf(" %s not come to ", one ? "has" : "have");
		hang_print_about(s->h);
	} else if (s->h->verdict == HANG_INIT || s->h->verdict == HANG_CALL) {
		printf(" %s not in %s", one ? "is" : "are", s->h->func < 0 ? "NCCL" : cuda_fns[s->h->func].name);
	} else {
		printf(" %s not wait for NCCL or the GPU", one ? "does" : "do");
	}
	if (s->h->hash) {
		fputs(", in ", stdout);
		print_group(s->h);
	}
	printf("; %zu process%s for %s", c->waiting, c->waiting == 1 ? " waits" : "es wait", one ? "it" : "them");
}

/* Prints why such a circle comes about, if all steps are alike. */
static void print_reason(const struct cause *c)
{
	size_t sends = 0, receives = 0, several = 0;

	for (size_t i = 0; i < c->n; i++) {
		const struct unmatched u = cause_view_message_of(&c->steps[i]);

		sends += u.rank && u.sends;
		receives += u.rank && !u.sends;
		several += !u.rank && c->steps[i].h != c->steps[(i + 1) % c->n].h;
	}
	if (sends == c->n)
		fputs(": each sends, and none receives", stdout);
	else if (receives == c->n)
		fputs(": each receives, and none sends", stdout);
	else if (several == c->n)
		fputs(": they call the collectives of these communicators in another order", stdout);
}

static bool is_one_group(const struct cause *c)
{
	for (size_t i = 1; i < c->n; i++)
		if (c->steps[i].h != c->steps->h)
			return false;
	return true;
}

static void print_circle(const struct cause *c)
{
	for (size_t i = 0; i < c->n && i < STEPS; i++) {
		const struct wait_step *s = &c->steps[i];
		const struct unmatched u = cause_view_message_of(s);

		fputs(i ? ", " : "", stdout);
		print_name(s->from);
		fputs(" waits for ", stdout);
		print_name(s->to);
		fputs(" in ", stdout);
		if (u.rank)
			print_message(&u);
		else if (s->h->number || s->h->op)
			hang_print_about(s->h);
		else
			fputs(s->h->func < 0 ? "NCCL" : cuda_fns[s->h->func].name, stdout);
		if (s->h->hash && !is_one_group(c)) {
			fputs(" of ", stdout);
			print_group(s->h);
		}
	}
	if (is_one_group(c) && c->steps->h->hash) {
		fputs(", in ", stdout);
		print_group(c->steps->h);
	}
	if (c->n > STEPS)
		printf(", and so on for %zu more", c->n - STEPS);
	print_reason(c);
	if (c->waiting > c->n)
		printf("; %zu more process%s for them", c->waiting - c->n, c->waiting - c->n == 1 ? " waits" : "es wait");
}

static void print_groups(const struct cause_printer *p, const struct cause *c)
{
	for (size_t i = 0; i < c->ngroups; i++) {
		if (i < GROUPS) {
			hang_print_line(c->groups[i], p->now, c->kind != CAUSE_GROUP);
			if (c->ngroups == 1 || p->ranks)
				hang_print_ranks(c->groups[i], p->now);
		}
		if (p->after)
			p->after(p->ctx, c->groups[i]);
	}
	if (c->ngroups > GROUPS)
		printf("... and %zu more communicators: --json has them all\n", c->ngroups - GROUPS);
}

static bool is_in_cause(const struct cause *c, const struct hang_rank *r)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct hang_rank *of = c->steps[i].from ?: c->steps[i].to;

		if (of && of->pid == r->pid && (of->report ? of->report->host : NULL) == (r->report ? r->report->host : NULL))
			return true;
	}
	return false;
}

static void cause_view_print_text(const struct cause_printer *p, const struct cause *c)
{
	struct shown_list first = { 0 }, others = { 0 };

	if (p->clock)
		printf("[%s] ", out_clock());
	if (c->kind == CAUSE_ROOT)
		print_root(c);
	else if (c->kind == CAUSE_CIRCLE)
		print_circle(c);
	if (c->kind != CAUSE_GROUP) {
		if (c->steps->h->moved)
			printf(", for %s", out_ns(cause_view_since(p->now, c->steps->h->moved)));
		putchar('\n');
	}
	for (size_t i = 0; i < c->n && c->kind != CAUSE_GROUP; i++)
		cause_view_add_rank(&first, c->steps[i].from ?: c->steps[i].to);
	print_stacks(p, &first);
	print_groups(p, c);
	for (size_t i = 0; i < c->ngroups; i++)
		for (size_t k = 0; k < c->groups[i]->n; k++) {
			const struct hang_rank *r = &c->groups[i]->ranks[k];

			if ((r->stack || (r->culprit && (r->report || c->ngroups == 1))) && !(c->kind != CAUSE_GROUP && is_in_cause(c, r)))
				cause_view_add_rank(&others, r);
		}
	print_stacks(p, &others);
}

void cause_print(const struct cause_printer *p, const struct cause *c, size_t number)
{
	if (out_is_json())
		print_json(p, c, number);
	else
		cause_view_print_text(p, c);
}

void causes_print(const struct cause_printer *p, const struct hangs *h)
{
	struct causes causes = causes_find(h);

	for (size_t i = 0; i < causes.n; i++)
		cause_print(p, &causes.all[i], i + 1);
	for (size_t i = 0; i < h->n; i++) {
		if (hang_is_hung(&h->all[i]))
			continue;
		if (out_is_json()) {
			cause_view_print_rows(p, &h->all[i]);
		} else {
			hang_print_line(&h->all[i], p->now, false);
			hang_print_ranks(&h->all[i], p->now);
		}
	}
	causes_free(&causes);
}
