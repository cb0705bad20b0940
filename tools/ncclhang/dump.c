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
#include "model/communicators.h"
#include "ncclhang/completion.h"
#include "ncclhang/dump.h"
#include "ncclhang/hang.h"
#include "ncclhang/rank_name.h"

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

/* ---- A process */

enum { MEMBERS = 65536 };	/* of a communicator that is written */

struct dump {
	const struct hangs *hangs;
	const struct completion *completion;
	struct rank_name *names;	/* of the processes */
	int *pids;
	size_t n;
	int world;			/* ranks of the largest communicator */
	bool *known;			/* of each communicator: the ranks in the job of all of its ranks */
	unsigned long long now;
	size_t left_out, unwritten;	/* communicators, processes */
};

static int job_rank(const struct dump *d, int pid)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->pids[i] == pid)
			return d->names[i].rank;
	return -1;
}

/* The rank in the job of a communicator's rank; -1: unknown. */
static int member(const struct dump *d, const struct hang *h, int rank)
{
	for (size_t i = 0; i < h->n; i++)
		if (h->ranks[i].rank == rank)
			return job_rank(d, h->ranks[i].pid);
	return h->nranks == d->world ? rank : -1;
}

static bool is_known(const struct dump *d, const struct hang *h)
{
	if (h->nranks > MEMBERS)
		return false;
	for (int i = 0; i < h->nranks; i++)
		if (member(d, h, i) < 0)
			return false;
	return h->hash && h->nranks;
}

static void put_group(FILE *f, const struct dump *d, const struct hang *h, const char *name)
{
	size_t size;
	char *ranks;
	FILE *list = open_memstream(&ranks, &size);

	if (!list)
		die(0, "out of memory");
	for (int i = 0; i < h->nranks; i++)
		fprintf(list, "%s%d", i ? ", " : "[", member(d, h, i));
	fputc(']', list);
	fclose(list);
	put_string(f, name);
	begin_dict(f);
	put_strings(f, "name", name);
	put_strings(f, "desc", "nccl");
	put_strings(f, "ranks", ranks);
	end_dict(f);
	free(ranks);
}

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
	bool done = completion_of(d->completion, e->rank->m, e->op, d->now, &noticed) == COMPLETE;

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

/* The collectives of a process, in the order of their calls. */
static struct entry *entries_of(const struct dump *d, int pid, size_t *n)
{
	struct entry *all = NULL;

	*n = 0;
	for (size_t i = 0; i < d->hangs->n; i++) {
		const struct hang *h = &d->hangs->all[i];

		for (size_t k = 0; k < h->n && d->known[i]; k++) {
			const struct hang_rank *r = &h->ranks[k];

			if (r->pid != pid || !r->m)
				continue;
			all = xrealloc(all, *n + RECENT, sizeof(*all));
			for (unsigned j = 0; j < RECENT; j++)
				if (r->m->recent[j].number)
					all[(*n)++] = (struct entry){ &r->m->recent[j], h, r };
		}
	}
	if (*n)
		qsort(all, *n, sizeof(*all), by_start);
	return all;
}

static void put_process(FILE *f, const struct dump *d, int pid)
{
	struct entry *entries;
	char name[24];
	size_t n;

	fputs("\x80\x02", f);		/* PROTO 2 */
	begin_dict(f);
	put_strings(f, "version", "2.10");
	put_string(f, "pg_config");
	begin_dict(f);
	for (size_t i = 0; i < d->hangs->n; i++) {
		const struct hang *h = &d->hangs->all[i];
		bool here = false;

		for (size_t k = 0; k < h->n; k++)
			here |= h->ranks[k].pid == pid;
		snprintf(name, sizeof(name), "0x%llx", h->hash);
		if (here && d->known[i])
			put_group(f, d, h, name);
	}
	end_dict(f);
	put_string(f, "entries");
	begin_list(f);
	entries = entries_of(d, pid, &n);
	for (size_t i = 0; i < n; i++)
		put_entry(f, d, &entries[i], i);
	free(entries);
	end_list(f);
	end_dict(f);
	fputc('.', f);			/* STOP */
}

static void write_process(const char *prefix, const struct dump *d, size_t i)
{
	char *path = xprintf("%s%d", prefix, d->names[i].rank);
	FILE *f = out_file_stream(path);

	put_process(f, d, d->pids[i]);
	out_file_close(f, path);
	free(path);
}

/* ---- All */

static void add_process(struct dump *d, int pid, struct helper_pool *helpers)
{
	for (size_t i = 0; i < d->n; i++)
		if (d->pids[i] == pid)
			return;
	d->pids = xrealloc(d->pids, d->n + 1, sizeof(*d->pids));
	d->names = xrealloc(d->names, d->n + 1, sizeof(*d->names));
	d->pids[d->n] = pid;
	d->names[d->n++] = rank_name_read(helpers, pid);
}

static bool is_taken(const struct dump *d, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (d->names[i].rank == d->names[n].rank)
			return true;
	return false;
}

/* Without a launcher's variables: the rank in the largest communicator. */
static void number_processes(struct dump *d)
{
	for (size_t i = 0; i < d->hangs->n; i++) {
		const struct hang *h = &d->hangs->all[i];

		for (size_t k = 0; k < h->n && h->nranks == d->world; k++)
			for (size_t p = 0; p < d->n; p++)
				if (d->pids[p] == h->ranks[k].pid && d->names[p].rank < 0)
					d->names[p].rank = h->ranks[k].rank;
	}
}

void dump_write(const char *prefix, const struct hangs *h, const struct completion *completion, struct helper_pool *helpers)
{
	struct dump d = { .hangs = h, .completion = completion, .now = clock_ns() };

	for (size_t i = 0; i < h->n; i++) {
		d.world = h->all[i].nranks > d.world ? h->all[i].nranks : d.world;
		for (size_t k = 0; k < h->all[i].n; k++)
			add_process(&d, h->all[i].ranks[k].pid, helpers);
	}
	number_processes(&d);
	d.known = xcalloc(h->n + 1, sizeof(*d.known));
	for (size_t i = 0; i < h->n; i++) {
		d.known[i] = is_known(&d, &h->all[i]);
		d.left_out += !d.known[i];
	}
	for (size_t i = 0; i < d.n; i++) {
		if (d.names[i].rank < 0 || is_taken(&d, i))
			d.unwritten++;
		else
			write_process(prefix, &d, i);
	}
	if (d.unwritten)
		warning(0, "left out %zu process%s with no rank in the job, or that of another one", d.unwritten,
			d.unwritten == 1 ? "" : "es");
	free(d.known);
	if (d.left_out)
		warning(0, "left out %zu communicator%s whose ranks in the job are not all known", d.left_out, plural(d.left_out));
	free(d.names);
	free(d.pids);
}
