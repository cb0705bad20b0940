// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* ncclhang - show which ranks of a NCCL job have not come to what, and what they do instead */
#include <stdlib.h>
#include "abi/launch.h"
#include "abi/nccl_event.h"
#include "base/util.h"
#include "cli/out.h"
#include "model/captures.h"
#include "nccl/communicators.h"
#include "inflight/inflight.h"
#include "ncclhang/cause_view.h"
#include "ncclhang/completed.h"
#include "ncclhang/dump.h"
#include "ncclhang/hang.h"
#include "ncclhang/hang_view.h"
#include "ncclhang/judge.h"
#include "ncclhang/look.h"
#include "ncclhang/merge_hosts.h"
#include "nccl/rank_name.h"
#include "ncclhang/ras.h"
#include "ncclhang/ras_view.h"
#include "ncclhang/wait_graph.h"
#include "probe/dso.h"
#include "proc/helper_files.h"
#include "proc/proc.h"
#include "proc/user.h"
#include "proc/signals.h"
#include "session/tool.h"
#include "inflight/inflight_view.h"
#include "nccl.skel.h"

static const struct usage usage = {
	.args = "[--merge FILE ...]",
	.what = "Show which ranks of a NCCL job have not come to a collective that others have come to, in which\n"
		"collective ranks differ, or that all have come and nothing completes; with the call stacks of those\n"
		"that the others wait for.  Looks for one second and exits; with --watch reports each hang.",
	.examples =
	"  ncclhang                      # all processes, now\n"
	"  ncclhang -p 181               # a process\n"
	"  ncclhang -w 60                # report where nothing has moved for a minute\n"
	"  ncclhang -w 2 -jc './ranks.py 4 3 1'\n",
};

enum { ENDED = 1024, COMMUNICATORS = 128 << 20 /* bytes: 512 ranks in six each */ };

struct watch {
	bool all_stacks, no_ras, merge;
	const char *ras_address;
	struct ras ras;		/* the last answer of a report */
	int ras_pid, asked;
	bool ras_failed;	/* which this report says */
	long stall_ns;		/* 0: one look */
	const char *dump;	/* prefix of files, or NULL */
	struct dump_files files;
	bool unwritten;		/* some of them */
	struct communicators communicators;
	struct captures captures;
	struct completion completion;
	struct told { unsigned long long id, moved; enum verdict verdict; size_t n; } *told;	/* hangs that were reported and go on */
	size_t ntold, reports;
	size_t hung;			/* communicators that hung in the last look */
	unsigned long long lost;	/* records and calls, so far */
	struct hang_ended ended[ENDED];	/* the last ones */
	size_t nended;
	struct inflight inflight;
	struct session session;
	struct event_loop events;
	struct nccl_bpf *skel;
};

/* LOOK_NS: how long one look lasts, as programs ask about their communicators several times a second; STILL_NS: for so long
 * nothing moves in a hang.  WATCH_NS: with --command. */
enum { RAS_MS = 11000 /* as NCCL's own client */, MOST_ASKED = 2 /* times for a report: records wait meanwhile */ };

static const long LOOK_NS = 1000000000, STILL_NS = 500000000, WATCH_NS = 10000000000;

/* To read the stacks of a job that hangs already, in one look. */
static const unsigned long long STACKS_NS = 6000000000;

/* ---- Stacks */

static void take_stack(void *ctx, const struct inflight_row *thread)
{
	struct hang_rank *r = ctx;

	if (thread->tid == r->tid)
		r->stack = thread->stack;
	else if (thread->tid == r->pid)
		r->main_stack = thread->stack;
}

static void find_stack(struct watch *w, struct hang_rank *r)
{
	if (r->has_ended || r->stack)
		return;
	if (r->call || (r->wait && r->wait->tid == r->tid))
		r->stack = (r->call ?: r->wait)->stack;
	else
		inflight_threads(&w->inflight, r->pid, r->tid, take_stack, r);
}

/* Ranks that others wait for; waiting ranks as far as they add something. */
static void find_stacks(struct watch *w, struct hang *h)
{
	for (size_t i = 0; i < h->n; i++) {
		struct hang_rank *r = &h->ranks[i];

		if (w->all_stacks || r->culprit || h->verdict == HANG_PENDING || h->verdict == HANG_MISMATCH ||
		    (!w->stall_ns && hang_waits(r)))
			find_stack(w, r);
	}
}

/* ---- Ranks that make no call, in a job that hangs already */

struct missing {
	struct watch *w;
	const struct hangs *hangs;
	struct hang *h;
	struct rank_name job;	/* of a rank of h */
};

/* Returns a rank whose process lives. */
static const struct hang_rank *living(const struct hang *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (!h->ranks[i].has_ended)
			return &h->ranks[i];
	return &h->ranks[0];
}

static bool is_listed(const struct hangs *h, int pid)
{
	for (size_t i = 0; i < h->n; i++)
		for (size_t k = 0; k < h->all[i].n; k++)
			if (h->all[i].ranks[k].pid == pid)
				return true;
	return false;
}

static bool is_traced(const struct session *s, int pid)
{
	const int *p = s->opened.pids;

	while (p && *p && *p != pid)
		p++;
	return filter_wants(&s->selected, pid) && (!p || *p);
}

static bool has_rank(const struct hang *h, int rank)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->ranks[i].rank == rank)
			return true;
	return false;
}

static void add_missing(void *ctx, int pid)
{
	struct missing *m = ctx;
	struct rank_name name;

	if ((int)m->h->n == m->h->nranks || proc_user(pid) != m->h->user || is_listed(m->hangs, pid) || !is_traced(&m->w->session, pid))
		return;
	name = rank_name_read(m->w->session.probes.helpers, pid);
	/* children have the environment of a rank, too */
	if (name.rank >= 0 && !has_rank(m->h, name.rank) && rank_name_same_job(&name, &m->job))
		hang_add_missing(m->h, pid, m->h->nranks > name.rank ? name.rank : -1, &m->w->inflight);
}

/* By their environment: they are of the job, and in no communicator that was seen. */
static void find_missing(struct watch *w, const struct hangs *hangs, struct hang *h)
{
	const struct hang_rank *one = living(h);
	struct missing m = { .w = w, .hangs = hangs, .h = h };

	if (h->whole || (h->verdict != HANG_PENDING && h->verdict != HANG_SUSPECT) || (int)h->n >= h->nranks)
		return;
	m.job = rank_name_read(w->session.probes.helpers, one->pid);
	if (m.job.rank == one->rank)	/* the communicator is that of all */
		proc_each(add_missing, &m);
}

/* ---- Processes of a job that have NCCL, and no communicator that was seen, as nothing asks about it: vLLM's PyNccl */

struct unseen {
	int pid, parent;
	unsigned user;
	struct rank_name name;
	bool taken;
};

struct nccl_search { struct probes *probes; int pid; bool found; };

static bool find_nccl(void *ctx, const struct mapping *m)
{
	struct nccl_search *s = ctx;
	const struct dso *d = dso_of_mapping(s->probes, s->pid, m);

	for (int i = 0; i < d->scan.n && !s->found; i++)
		s->found = d->scan.probes[i].id < CUDA_ID_MAX && cuda_fns[d->scan.probes[i].id].lib == CUDA_NCCL;
	return !s->found;
}

static bool has_nccl(struct probes *probes, int pid)
{
	struct nccl_search s = { probes, pid, false };

	helper_mappings(probes->helpers, pid, false, find_nccl, &s);
	return s.found;
}

static bool waits_unlisted(const struct watch *w, const struct hangs *h)
{
	for (size_t i = 0; i < w->inflight.n; i++)
		if (!is_listed(h, w->inflight.rows[i].pid))
			return true;
	return false;
}

/* Returns those in which no communicator was seen; the caller frees them. */
static struct unseen *find_unseen(struct watch *w, const struct hangs *h, size_t *n)
{
	const struct process_entry *p = waits_unlisted(w, h) ? w->session.processes.all : NULL;
	struct unseen *all = NULL;

	*n = 0;
	for (; p; p = p->hh.next) {
		if (!process_is_preexisting(&w->session.processes, p->pid) || is_listed(h, p->pid) || !has_nccl(&w->session.probes, p->pid))
			continue;
		all = xrealloc(all, *n + 1, sizeof(*all));
		all[(*n)++] = (struct unseen){
			.pid = p->pid, .parent = proc_parent(p->pid), .user = proc_user(p->pid),
			.name = rank_name_read(w->session.probes.helpers, p->pid),
		};
	}
	return all;
}

/* Without a launcher's variables, by the parent: a server starts its workers. */
static bool is_same_job(const struct unseen *a, const struct unseen *b)
{
	if (a->user != b->user || !*a->name.job != !*b->name.job)
		return false;
	return *a->name.job ? rank_name_same_job(&a->name, &b->name) : a->parent == b->parent && a->parent > 1;
}

static bool has_new_wait(const struct hang *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->ranks[i].wait && (long)h->ranks[i].wait->age < STILL_NS)
			return true;
	return false;
}

/* The ranks of a job: those that wait may wait for the others.  One process alone may wait for its GPU. */
static void add_unseen(struct watch *w, struct hangs *h)
{
	size_t n;
	struct unseen *all = find_unseen(w, h, &n);

	for (size_t i = 0; i < n; i++) {
		struct hang *to = NULL;

		for (size_t k = i + 1; k < n && !all[i].taken; k++) {
			if (all[k].taken || !is_same_job(&all[i], &all[k]))
				continue;
			if (!to) {
				to = hangs_add(h, 0, 0, all[i].user);
				to->whole = false;
				to->unseen = true;
				hang_add_missing(to, all[i].pid, all[i].name.rank, &w->inflight);
			}
			hang_add_missing(to, all[k].pid, all[k].name.rank, &w->inflight);
			all[k].taken = true;
		}
		if (to)
			hang_judge_unseen(to);
		if (to && (to->verdict == HANG_IDLE || has_new_wait(to))) {	/* none waits, or it works */
			free(to->ranks);
			h->n--;
		}
	}
	free(all);
}

/* ---- Reports */

static unsigned long long id_of(const struct hang *h)
{
	return h->hash ?: ((unsigned long long)h->ranks[0].pid << 32 ^ (h->ranks[0].m ? h->ranks[0].m->handle : 0));
}

static bool was_told(const struct watch *w, const struct hang *h)
{
	for (size_t i = 0; i < w->ntold; i++)
		if (w->told[i].id == id_of(h) && w->told[i].moved == h->moved && w->told[i].verdict == h->verdict && w->told[i].n == h->n)
			return true;
	return false;
}

/* Remembers hangs that go on. */
static void remember(struct watch *w, const struct hangs *h)
{
	struct told *told = xcalloc(h->n + 1, sizeof(*told));
	size_t n = 0;

	for (size_t i = 0; i < h->n; i++)
		if (hang_is_hung(&h->all[i]))
			told[n++] = (struct told){ id_of(&h->all[i]), h->all[i].moved, h->all[i].verdict, h->all[i].n };
	free(w->told);
	w->told = told;
	w->ntold = n;
}

static bool no_signal(void *ctx)
{
	(void)ctx;
	return !signal_caught();
}

/* Of what the probes do not see: ranks on other machines, and what was called before tracing began. */
static void ask_ras(void *ctx, const struct hang *h)
{
	struct watch *w = ctx;
	int pid = living(h)->pid;

	if (w->no_ras || w->ras_failed || !h->hash || !hang_is_hung(h) || (h->whole && (int)h->n == h->nranks))
		return;
	/* an answer is about all communicators of a job */
	if (!ras_find(&w->ras, h->hash) && w->asked < MOST_ASKED && (!w->asked || w->ras_pid != pid)) {
		ras_free(&w->ras);
		w->asked++;
		w->ras_pid = pid;
		ras_ask(&w->ras, w->ras_pid, w->ras_address, RAS_MS, no_signal, NULL);
	}
	ras_print(&w->ras, h->hash, w->inflight.now);
	w->ras_failed = w->ras.result != RAS_OK;
}

/* By process: a job's has ranks in several communicators. */
struct named { int pid; struct rank_name name; UT_hash_handle hh; };

static void name_ranks(struct watch *w, struct hangs *h)
{
	struct named *all = NULL, *p;

	for (size_t i = 0; i < h->n; i++)
		for (size_t k = 0; k < h->all[i].n; k++) {
			struct hang_rank *r = &h->all[i].ranks[k];

			HASH_FIND_INT(all, &r->pid, p);
			if (!p) {
				p = xcalloc(1, sizeof(*p));
				*p = (struct named){ .pid = r->pid, .name = rank_name_read(w->session.probes.helpers, r->pid) };
				HASH_ADD_INT(all, pid, p);
			}
			r->name = p->name;
		}
	HASH_FREE(all);
}

/* Calls in flight that are in the report are not printed again. */
static void mark_shown(struct watch *w, const struct hang *h)
{
	struct inflight_row *rows = w->inflight.rows;

	for (size_t i = 0; i < h->n; i++) {
		if (h->ranks[i].call)
			rows[h->ranks[i].call - rows].shown = true;
		if (h->ranks[i].wait)
			rows[h->ranks[i].wait - rows].shown = true;
	}
}

static bool is_new(const struct hangs *h, const struct cause *c, const bool *new)
{
	for (size_t i = 0; i < c->ngroups; i++)
		if (new[c->groups[i] - h->all])
			return true;
	return false;
}

/* Communicators without a hang, except those without an operation. */
static void print_others(struct watch *w, const struct hangs *h, bool in_text)
{
	size_t unused = 0;

	for (size_t i = 0; i < h->n; i++) {
		const struct hang *g = &h->all[i];

		if (hang_is_hung(g))
			continue;
		if (hang_is_unused(g)) {
			unused++;
		} else if (out_is_json()) {
			hang_print_rows(g, &w->session.processes, w->inflight.now);
		} else if (in_text) {
			printf("[%s] ", out_clock());
			hang_print_line(g, w->inflight.now, false);
			hang_print_ranks(g, w->inflight.now);
		}
	}
	if (unused && in_text && !out_is_json())
		printf("%zu communicator%s of which no operation was called\n", unused, plural(unused));
}

/* new: of each communicator, whether to report it, with all that has the same cause. */
static void print_hangs(struct watch *w, struct hangs *h, bool *new)
{
	const struct cause_printer printer = {
		.processes = &w->session.processes, .now = w->inflight.now, .ranks = w->all_stacks, .clock = true,
		.after = ask_ras, .ctx = w,
	};
	struct causes causes;
	size_t n = 0;

	name_ranks(w, h);
	causes = causes_find(h);
	for (size_t i = 0; i < causes.n; i++) {
		const struct cause *c = &causes.all[i];

		if (w->stall_ns && !is_new(h, c, new))
			continue;
		for (size_t k = 0; k < c->ngroups; k++) {
			find_stacks(w, &h->all[c->groups[k] - h->all]);
			mark_shown(w, c->groups[k]);
			new[c->groups[k] - h->all] = true;
		}
		for (size_t k = 0; k < c->n; k++)
			if (c->steps[k].from)
				find_stack(w, (struct hang_rank *)c->steps[k].from);
		cause_print(&printer, c, ++n);
	}
	w->reports += n;
	if (!w->stall_ns)
		print_others(w, h, !causes.n);
	causes_free(&causes);
}

/* stacks: read those of the calls in flight, too. */
static struct hangs look(struct watch *w, bool stacks)
{
	w->inflight.stacks = stacks;
	inflight_collect(&w->inflight);
	return hangs_look(&(struct hang_sources){
		.communicators = &w->communicators, .completion = &w->completion, .inflight = &w->inflight,
		.ended = w->ended, .nended = w->nended < ENDED ? w->nended : ENDED,
	}, w->stall_ns ?: STILL_NS);
}

static bool some_is_new(const struct watch *w, const struct hangs *h)
{
	for (size_t i = 0; i < h->n; i++)
		if (hang_is_hung(&h->all[i]) && !was_told(w, &h->all[i]))
			return true;
	return false;
}

/* Writes the files of the users of hangs that were reported. */
static void dump(struct watch *w, const struct hangs *h, const bool *reported)
{
	for (size_t i = 0; i < h->n; i++) {
		bool written = !reported[i];

		for (size_t k = 0; k < i && !written; k++)
			written = reported[k] && h->all[k].user == h->all[i].user;
		if (written)
			continue;
		if (w->session.command && w->files.user == USER_UNKNOWN)
			w->files.user = h->all[i].user;
		w->unwritten |= !dump_write(&w->files, h, h->all[i].user);
	}
}

static bool any(const bool *of, size_t n)
{
	size_t i = 0;

	while (i < n && !of[i])
		i++;
	return i < n;
}

/* The communicators of a job stop one after another: return true if there are not more than in the last look. */
static bool is_settled(struct watch *w, const struct hangs *h)
{
	size_t n = 0, before = w->hung;

	for (size_t i = 0; i < h->n; i++)
		n += hang_is_hung(&h->all[i]);
	w->hung = n;
	return n == before;
}

static void report(void *ctx)
{
	struct watch *w = ctx;
	const unsigned long long *counts = w->events.lost, lost = counts[LOST_RECORD] + counts[LOST_THREAD] + counts[LOST_PROC_TABLE_FULL];
	struct hangs hangs;
	bool *new, settled;

	if (lost != w->lost)
		communicators_lost(&w->communicators);
	w->lost = lost;
	communicators_look(&w->communicators);
	hangs = look(w, !w->stall_ns);
	settled = is_settled(w, &hangs);
	if (w->stall_ns && some_is_new(w, &hangs)) {
		hangs_free(&hangs);
		if (!settled) {
			inflight_clear(&w->inflight);
			return;
		}
		hangs = look(w, true);
	}
	if (!w->stall_ns)
		add_unseen(w, &hangs);
	new = xcalloc(hangs.n + 1, sizeof(*new));
	for (size_t i = 0; i < hangs.n; i++)
		new[i] = !w->stall_ns || (hang_is_hung(&hangs.all[i]) && !was_told(w, &hangs.all[i]));
	remember(w, &hangs);		/* before ranks are added that make no calls */
	for (size_t i = 0; i < hangs.n; i++)
		if (new[i])
			find_missing(w, &hangs, &hangs.all[i]);
	if (any(new, hangs.n))
		print_hangs(w, &hangs, new);
	ras_free(&w->ras);
	w->asked = 0;
	w->ras_failed = false;
	if (w->dump)
		dump(w, &hangs, new);
	free(new);
	if (w->stall_ns) {
		inflight_clear(&w->inflight);
	} else {
		if (!hangs.n && !out_is_json())
			puts("no communicator of NCCL was seen");
		inflight_view(&w->inflight);
	}
	hangs_free(&hangs);
	process_tidy(&w->session.processes);
}

/* ---- The tool's hooks */

struct end {
	struct watch *w;
	const struct process_event *event;
};

static void note_ended(void *ctx, const struct communicator *m)
{
	const struct end *end = ctx;
	struct watch *w = end->w;

	if (m->program != end->event->program || m->ended || !m->hash || !m->whole)
		return;
	w->ended[w->nended++ % ENDED] = (struct hang_ended){
		.hash = m->hash, .time = end->event->time, .number = m->collectives, .user = m->uid, .nranks = m->nranks,
		.rank = m->rank, .pid = m->pid,
	};
}

static void on_end(void *ctx, const struct process_event *e)
{
	struct watch *w = ctx;
	struct end end = { w, e };

	communicators_each(&w->communicators, note_ended, &end);
	if (communicators_ended(&w->communicators, e))
		completion_program_ended(&w->completion, e->program);
	captures_program_ended(&w->captures, e->program);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct watch *w = ctx;

	communicators_record(&w->communicators, &w->captures, data, size, NULL, NULL);
	return 0;
}

static void operands(void *ctx, int argc, char **argv, int first)
{
	const struct watch *w = ctx;

	if (!w->merge) {
		opt_no_operands(argc, argv, first);
		return;
	}
	if (first == argc)
		usage_error("--merge: no file is given");
	out_init(w->session.json);
	merge_files(argv + first, argc - first);
	exit(0);
}

static void check(void *ctx)
{
	struct watch *w = ctx;

	if (w->session.command && !w->stall_ns)
		w->stall_ns = WATCH_NS;
}

static void *open_skel(void *ctx)
{
	struct watch *w = ctx;

	process_on_end(&w->session.processes, on_end, w);
	w->session.probes.return_classes = NCCL_RETURN_CLASSES;
	w->skel = nccl_bpf__open();
	if (w->skel)
		w->skel->rodata->nccl_completion = true;
	return w->skel;
}

static void loaded(void *ctx)
{
	struct watch *w = ctx;

	w->captures = (struct captures)CAPTURES_OF(w->skel);
	w->completion = (struct completion)COMPLETION_OF(w->skel);
	communicators_init(&w->communicators, &w->session.probes, session_is_alone(&w->session));
	w->communicators.keeps_recent = true;
	w->communicators.quota.limit = COMMUNICATORS;
}

/* The user whose files have no id in their names: an option selects him, not what happens to run.  Of a
 * command he is the first that it has. */
static void open_files(struct watch *w)
{
	const struct session *t = &w->session;
	const int *pids = t->opened.pids;

	w->files = (struct dump_files){
		.prefix = w->dump, .completion = &w->completion, .helpers = t->probes.helpers,
		.events = &w->events,
	};
	if (t->selected.by_uid) {
		w->files.user = t->selected.uid;
	} else if (t->inject) {
		w->files.user = t->traced_user;
	} else if (t->command) {
		w->files.user = USER_UNKNOWN;
	} else if (pids) {
		w->files.user = proc_real_user(*pids);
		while (*++pids)
			w->files.apart |= proc_real_user(*pids) != w->files.user;
	} else {
		w->files.apart = true;
	}
}

static void start(void *ctx)
{
	struct watch *w = ctx;

	open_files(w);
	w->inflight = (struct inflight)INFLIGHT_OF(w->skel, &w->session, true);
	w->inflight.report_ns = w->stall_ns ? 0 : STACKS_NS;
	w->inflight.frames = (struct stack_config){ .dwarf = true, .native = true, .python = true };
	inflight_start(&w->inflight);
	w->events.interval_ns = w->stall_ns && w->stall_ns < LOOK_NS ? w->stall_ns : LOOK_NS;
	w->events.count = w->stall_ns ? 0 : 1;
}

static int stop(void *ctx, int sig)
{
	struct watch *w = ctx;

	if (!w->stall_ns && !w->events.counted_out)
		report(w);
	if (w->stall_ns && !out_is_json())
		printf("%zu hang%s reported\n", w->reports, plural(w->reports));
	return sig;
}

static int finish(void *ctx, int status)
{
	struct watch *w = ctx;

	communicators_warn(&w->communicators);
	inflight_free(&w->inflight);
	return status || !w->unwritten ? status : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct watch watch = {
		.session = SESSION_INIT, .events = { .record = on_record, .report = report, .ctx = &watch },
	};
	const unsigned classes = NCCL_CLASSES | 1u << CUDA_SYNC | 1u << CUDA_QUERY;
	int status;
	const struct opt opts[] = {
		OPT_TARGET(&watch.session),
		OPT_TIME('w', "watch", "SECONDS", &watch.stall_ns, VALUE_S, 1,
			 "go on, and report where nothing has moved for SECONDS; with --command 10"),
		OPT_STR(0, "dump", "PREFIX", &watch.dump,
			"also write PREFIX0, ... for torchfrtrace; by user: PREFIXuid_0, ..."),
		OPT_STR(0, "ras", "HOST:PORT", &watch.ras_address, "where NCCL's RAS listens; default: as the job says"),
		OPT_FLAG(0, "no-ras", &watch.no_ras, "do not ask NCCL's RAS about ranks elsewhere and earlier calls"),
		OPT_FLAG(0, "merge", &watch.merge, "print what --json has printed to each FILE, judged as a whole, and exit"),
		OPT_FLAG('a', "all-stacks", &watch.all_stacks, "print call stacks of all ranks"),
		OPT_FLAG(0, "lines", &watch.session.lines, "print source lines of native frames"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .session = &watch.session, .events = &watch.events,
		.classes = &classes, .devices = true, .ctx = &watch, .operands = operands, .check = check, .open = open_skel, .loaded = loaded,
		.start = start, .stop = stop, .close = finish,
	};

	status = tool_run(&tool, argc, argv);
	communicators_free(&watch.communicators);
	free(watch.told);
	return status;
}
