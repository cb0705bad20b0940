/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "api/cuda_fn.h"
#include "api/nccl.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/util.h"
#include "cli/out.h"
#include "cli/out_file.h"
#include "nccl/communicators.h"
#include "ncclhang/completed.h"
#include "ncclhang/dump.h"
#include "ncclhang/hang.h"
#include "nccl/rank_name.h"
#include "session/event_loop.h"

/* ---- Python's pickles: protocol 2 (Lib/pickletools.py of CPython) */

static void put_u32(FILE *f, unsigned n)
{
	fwrite(&n, sizeof(n), 1, f);	/* little-endian: x86-64 */
}

static void put_string(FILE *f, const char *s)
{
	fputc('X', f);			/* BINUNICODE */
	put_u32(f, strlen(s));
	fputs(s, f);
}

static void put_int(FILE *f, unsigned long long n)
{
	fputs("\x8a\x09", f);		/* LONG1 of 9 bytes: it has a sign */
	fwrite(&n, sizeof(n), 1, f);
	fputc(0, f);
}

static void put_bool(FILE *f, bool b)
{
	fputc(b ? '\x88' : '\x89', f);	/* NEWTRUE, NEWFALSE */
}

static void begin_dict(FILE *f)
{
	fputs("}(", f);			/* EMPTY_DICT, MARK */
}

static void end_dict(FILE *f)
{
	fputc('u', f);			/* SETITEMS */
}

static void begin_list(FILE *f)
{
	fputs("](", f);			/* EMPTY_LIST, MARK */
}

static void end_list(FILE *f)
{
	fputc('e', f);			/* APPENDS */
}

static void put_strings(FILE *f, const char *key, const char *value)
{
	put_string(f, key);
	put_string(f, value);
}

static void put_number(FILE *f, const char *key, unsigned long long n)
{
	put_string(f, key);
	put_int(f, n);
}

/* ---- The flight recorder's words */

static const char *operation_name(int func)
{
	static const struct { const char *prefix, *name; } names[] = {
		{ "ncclAllReduce", "nccl:all_reduce" }, { "ncclReduceScatter", "nccl:_reduce_scatter_base" },
		{ "ncclReduce", "nccl:reduce" }, { "ncclBcast", "nccl:broadcast" }, { "ncclBroadcast", "nccl:broadcast" },
		{ "ncclAllGather", "nccl:_all_gather_base" }, { "ncclAlltoAll", "nccl:all_to_all" },
		{ "ncclGather", "nccl:gather" }, { "ncclScatter", "nccl:scatter" },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strncmp(cuda_fns[func].name, names[i].prefix, strlen(names[i].prefix)))
			return names[i].name;
	return "nccl:barrier";
}

/* c10::ScalarType */
static const char *type_name(unsigned type)
{
	static const struct { const char *nccl, *torch; } names[] = {
		{ "i8", "Char" }, { "u8", "Byte" }, { "i32", "Int" }, { "u32", "UInt32" }, { "i64", "Long" }, { "u64", "UInt64" },
		{ "f16", "Half" }, { "f32", "Float" }, { "f64", "Double" }, { "bf16", "BFloat16" },
		{ "f8e4m3", "Float8_e4m3fn" }, { "f8e5m2", "Float8_e5m2" },
	};
	const char *name = nccl_type_name(type);

	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i].nccl))
			return names[i].torch;
	return "Undefined";
}

/* NCCL's count is that of one rank's part: *in and *out are what a rank has before and after. */
static void sizes_of(const char *name, unsigned long long count, int nranks, unsigned long long *in, unsigned long long *out)
{
	bool all = !strcmp(name, "nccl:all_to_all");

	*in = *out = count;
	if (all || !strcmp(name, "nccl:_reduce_scatter_base") || !strcmp(name, "nccl:scatter"))
		*in *= nranks;
	if (all || !strcmp(name, "nccl:_all_gather_base") || !strcmp(name, "nccl:gather"))
		*out *= nranks;
}

static void put_sizes(FILE *f, const char *key, unsigned long long n)
{
	put_string(f, key);
	begin_list(f);
	begin_list(f);
	put_int(f, n);
	end_list(f);
	end_list(f);
}

static void put_type(FILE *f, const char *key, const char *name)
{
	put_string(f, key);
	begin_list(f);
	put_string(f, name);
	end_list(f);
}

/* ---- The processes of a user, and his communicators */

/* Ranks of a communicator that is written, those in all files of a user; collectives in a file. */
enum { MEMBERS = 65536, ALL_MEMBERS = 1 << 24, ENTRIES = 32768 };

/* After a signal, files are begun for so long. */
enum { END_MS = 1000 };

struct dumped {
	int pid, rank;			/* rank: in the job; -1: unknown */
};

struct dump {
	const struct dump_files *to;
	unsigned user;
	const struct hang **hangs;	/* the user's */
	size_t nhangs;
	bool *known;			/* of each: the ranks in the job of all of its ranks */
	struct dumped *all;		/* his processes, by pid */
	size_t n;
	int world;			/* ranks of his largest communicator */
	unsigned long long now;
	size_t members;			/* so far: see ALL_MEMBERS */
	size_t left_out, unwritten, untimely, earlier;	/* communicators, processes, collectives */
};

static int by_pid(const void *a, const void *b)
{
	const struct dumped *p = a, *q = b;

	return p->pid - q->pid;
}

static struct dumped *process_of(const struct dump *d, int pid)
{
	const struct dumped want = { .pid = pid };

	return bsearch(&want, d->all, d->n, sizeof(*d->all), by_pid);
}

/* Returns the ranks in the job of a communicator's ranks; the caller frees them.  NULL: some are
 * unknown. */
static int *members_of(const struct dump *d, const struct hang *h)
{
	enum { ELSEWHERE = -2 };
	int *all, rank, known = 0;

	if (!h->hash || !h->nranks || h->nranks > MEMBERS)
		return NULL;
	all = xcalloc(h->nranks, sizeof(*all));
	for (int i = 0; i < h->nranks; i++)
		all[i] = ELSEWHERE;
	for (size_t i = 0; i < h->n; i++) {
		rank = h->ranks[i].rank;
		if (rank >= 0 && rank < h->nranks && all[rank] == ELSEWHERE)
			all[rank] = process_of(d, h->ranks[i].pid)->rank;
	}
	for (int i = 0; i < h->nranks; i++) {
		if (all[i] == ELSEWHERE && h->nranks == d->world)
			all[i] = i;
		known += all[i] >= 0;
	}
	if (known == h->nranks)
		return all;
	free(all);
	return NULL;
}

static void put_group(FILE *f, const struct dump *d, const struct hang *h, const char *name)
{
	int *members = members_of(d, h);
	size_t size;
	char *ranks;
	FILE *list = open_memstream(&ranks, &size);

	if (!list)
		die(0, "out of memory");
	for (int i = 0; i < h->nranks; i++)
		fprintf(list, "%s%d", i ? ", " : "[", members[i]);
	fputc(']', list);
	fclose(list);
	put_string(f, name);
	begin_dict(f);
	put_strings(f, "name", name);
	put_strings(f, "desc", "nccl");
	put_strings(f, "ranks", ranks);
	end_dict(f);
	free(ranks);
	free(members);
}

/* ---- A process */

struct entry {
	const struct comm_op *op;
	const struct hang *hang;
	const struct hang_rank *rank;
};

static int by_start(const void *a, const void *b)
{
	const struct entry *p = a, *q = b;

	return (p->op->start > q->op->start) - (p->op->start < q->op->start);
}

static void put_entry(FILE *f, const struct dump *d, const struct entry *e, unsigned long long id)
{
	const char *name = operation_name(e->op->func), *type = type_name(e->op->type);
	unsigned long long in, out, noticed;
	char group[24];
	bool done = completion_of(d->to->completion, e->rank->m, e->op, d->now, &noticed) ==
		    COMPLETE;

	snprintf(group, sizeof(group), "0x%llx", e->hang->hash);
	sizes_of(name, e->op->count, e->hang->nranks, &in, &out);
	begin_dict(f);
	put_number(f, "record_id", id);
	put_number(f, "pg_id", 0);
	put_string(f, "process_group");
	begin_list(f);
	put_string(f, group);
	put_string(f, "nccl");
	end_list(f);
	put_number(f, "collective_seq_id", e->op->number);
	put_number(f, "p2p_seq_id", 0);
	put_number(f, "op_id", e->op->number);
	put_string(f, "is_p2p");
	put_bool(f, false);
	put_strings(f, "profiling_name", name);
	put_sizes(f, "input_sizes", in);
	put_sizes(f, "output_sizes", out);
	put_type(f, "input_dtypes", type);
	put_type(f, "output_dtypes", type);
	put_number(f, "time_created_ns", out_wall_ns(e->op->start));
	put_number(f, "thread_id", e->op->tid);
	put_strings(f, "state", done ? "completed" : "scheduled");
	put_string(f, "retired");
	put_bool(f, done);
	put_string(f, "frames");
	begin_list(f);
	end_list(f);
	end_dict(f);
}

/* Adds what a rank has called, if anything. */
static struct entry *add_entries(struct entry *all, size_t *n, const struct hang *h,
				 const struct hang_rank *r)
{
	if (!r->m->recent)
		return all;
	all = xrealloc(all, *n + RECENT, sizeof(*all));
	for (unsigned i = 0; i < RECENT; i++)
		if (r->m->recent[i].number)
			all[(*n)++] = (struct entry){ &r->m->recent[i], h, r };
	return all;
}

/* The collectives of a process, in the order of their calls. */
static struct entry *entries_of(const struct dump *d, int pid, size_t *n)
{
	struct entry *all = NULL;

	*n = 0;
	for (size_t i = 0; i < d->nhangs; i++) {
		const struct hang *h = d->hangs[i];

		for (size_t k = 0; k < h->n && d->known[i]; k++)
			if (h->ranks[k].pid == pid && h->ranks[k].m)
				all = add_entries(all, n, h, &h->ranks[k]);
	}
	if (*n)
		qsort(all, *n, sizeof(*all), by_start);
	return all;
}

static bool is_in(const struct hang *h, int pid)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->ranks[i].pid == pid)
			return true;
	return false;
}

static void put_process(FILE *f, struct dump *d, int pid)
{
	struct entry *entries;
	size_t n, first;
	char name[24];

	fputs("\x80\x02", f);		/* PROTO 2 */
	begin_dict(f);
	put_strings(f, "version", "2.10");
	put_string(f, "pg_config");
	begin_dict(f);
	for (size_t i = 0; i < d->nhangs; i++) {
		if (!d->known[i] || !is_in(d->hangs[i], pid))
			continue;
		snprintf(name, sizeof(name), "0x%llx", d->hangs[i]->hash);
		put_group(f, d, d->hangs[i], name);
	}
	end_dict(f);
	put_string(f, "entries");
	begin_list(f);
	entries = entries_of(d, pid, &n);
	first = n > ENTRIES ? n - ENTRIES : 0;
	d->earlier += first;
	for (size_t i = first; i < n; i++)
		put_entry(f, d, &entries[i], i);
	free(entries);
	end_list(f);
	end_dict(f);
	fputc('.', f);			/* STOP */
}

static bool write_process(struct dump *d, const struct dumped *process)
{
	const struct dump_files *to = d->to;
	char *path;
	FILE *f;
	bool ok;

	if (to->apart || d->user != to->user)
		path = xprintf("%s%u_%d", to->prefix, d->user, process->rank);
	else
		path = xprintf("%s%d", to->prefix, process->rank);
	f = out_file_stream(path);
	put_process(f, d, process->pid);
	ok = out_file_close_or_remove(f, path);
	free(path);
	return ok;
}

/* ---- All of a user */

static void list_hangs(struct dump *d, const struct hangs *h)
{
	size_t n = 0;

	d->hangs = xcalloc(h->n + 1, sizeof(*d->hangs));
	for (size_t i = 0; i < h->n; i++) {
		if (h->all[i].user != d->user)
			continue;
		d->hangs[d->nhangs++] = &h->all[i];
		d->world = h->all[i].nranks > d->world ? h->all[i].nranks : d->world;
		n += h->all[i].n;
	}
	d->all = xcalloc(n + 1, sizeof(*d->all));
}

static void list_processes(struct dump *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->nhangs; i++)
		for (size_t k = 0; k < d->hangs[i]->n; k++)
			d->all[n++].pid = d->hangs[i]->ranks[k].pid;
	qsort(d->all, n, sizeof(*d->all), by_pid);
	for (size_t i = 0; i < n; i++)
		if (!i || d->all[i].pid != d->all[d->n - 1].pid)
			d->all[d->n++] = d->all[i];
	for (size_t i = 0; i < d->n; i++)
		d->all[i].rank = rank_name_read(d->to->helpers, d->all[i].pid).rank;
}

/* Without a launcher's variables: the rank in the largest communicator. */
static void number_processes(struct dump *d)
{
	for (size_t i = 0; i < d->nhangs; i++) {
		const struct hang *h = d->hangs[i];

		for (size_t k = 0; k < h->n && h->nranks == d->world; k++) {
			struct dumped *process = process_of(d, h->ranks[k].pid);

			if (process->rank < 0)
				process->rank = h->ranks[k].rank;
		}
	}
}

static void find_known(struct dump *d)
{
	d->known = xcalloc(d->nhangs + 1, sizeof(*d->known));
	for (size_t i = 0; i < d->nhangs; i++) {
		const struct hang *h = d->hangs[i];
		int *members = members_of(d, h);
		size_t n = (size_t)h->nranks * h->n;

		d->known[i] = members && n <= ALL_MEMBERS - d->members;
		d->members += d->known[i] ? n : 0;
		d->left_out += !d->known[i];
		free(members);
	}
}

static bool is_taken(const struct dump *d, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (d->all[i].rank == d->all[n].rank)
			return true;
	return false;
}

/* Returns false if a file could not be written. */
static bool write_processes(struct dump *d)
{
	bool ok = true;

	for (size_t i = 0; i < d->n; i++) {
		if (d->all[i].rank < 0 || is_taken(d, i))
			d->unwritten++;
		else if (!event_loop_time_left(d->to->events, END_MS))
			d->untimely++;
		else
			ok &= write_process(d, &d->all[i]);
	}
	return ok;
}

static void warn(const struct dump *d)
{
	if (d->unwritten)
		warning(0, "user %u: left out %zu process%s with no rank in the job, or that of "
			"another one", d->user, d->unwritten, d->unwritten == 1 ? "" : "es");
	if (d->untimely)
		warning(0, "user %u: left out %zu process%s: there was no time after the signal",
			d->user, d->untimely, d->untimely == 1 ? "" : "es");
	if (d->left_out)
		warning(0, "user %u: left out %zu communicator%s whose ranks in the job are not "
			"all known, or are too many", d->user, d->left_out, plural(d->left_out));
	if (d->earlier)
		warning(0, "user %u: left out %zu collective%s: a file has the last %d", d->user,
			d->earlier, plural(d->earlier), ENTRIES);
}

bool dump_write(const struct dump_files *to, const struct hangs *h, unsigned user)
{
	struct dump d = { .to = to, .user = user, .now = clock_ns() };
	bool ok;

	list_hangs(&d, h);
	list_processes(&d);
	number_processes(&d);
	find_known(&d);
	ok = write_processes(&d);
	warn(&d);
	free(d.known);
	free(d.all);
	free(d.hangs);
	return ok;
}
