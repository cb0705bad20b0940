/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "abi/device.h"
#include "api/cuda_fn.h"
#include "api/nccl.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/util.h"
#include "cli/out.h"
#include "inflight/inflight.h"
#include "nccl/communicators.h"
#include "ncclhang/cause_view.h"
#include "ncclhang/hang.h"
#include "ncclhang/hang_report.h"
#include "ncclhang/judge.h"
#include "ncclhang/merge_hosts.h"

/* A row of an output, and what hang.h has of it. */
struct merged {
	struct rank_key {
		unsigned long long hash;
		const char *host;
		int nranks, rank, pid, unused;
	} key;
	json_t *row;
	struct hang_report report;
	struct communicator m;
	struct inflight_row call, wait;
	struct comm_op op;
	double time;		/* s since the epoch */
	UT_hash_handle hh;
};

struct merge {
	struct merged *all;	/* of each rank the last row of each file */
	double first, now;	/* the times of the first and of the last one */
};

/* Times that a row may have: from the year 2001 to 5138. */
static const double FIRST_S = 1e9, LAST_S = 1e11;

enum { TIME_DIGITS = 16 };	/* as printed: to 1 us */

/* ---- Values of a row */

static const char *merge_hosts_text_of(const json_t *row, const char *key)
{
	return json_string_value(json_object_get(row, key));
}

static unsigned long long merge_hosts_number_of(const json_t *row, const char *key, unsigned long long without)
{
	const json_t *value = json_object_get(row, key);

	if (json_is_integer(value) && json_integer_value(value) >= 0)
		return json_integer_value(value);
	if (json_string_length(value) > 1 && !*json_string_value(value))	/* of with_large() */
		return strtoull(json_string_value(value) + 1, NULL, 10);
	return without;
}

static bool is_large(const char *s, size_t n)
{
	static const char least[] = "9223372036854775808", most[] = "18446744073709551615";

	if (*s == '0' || strspn(s, "0123456789") < n)
		return false;
	return n == sizeof(least) - 1 ? strncmp(s, least, n) >= 0 : n == sizeof(most) - 1 && strncmp(s, most, n) <= 0;
}

/* Returns the line with each integer from 2^63 to 2^64 - 1 as a string that begins with NUL; cut if another one has NUL. */
static char *with_large(const char *line)
{
	bool quoted = false;
	char *text = NULL;
	size_t size, n;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(ENOMEM, "a line");
	for (; *line && strncmp(line, "\\u0000", 6); line += n) {
		n = 1;
		if (*line == '"')
			quoted = !quoted;
		else if (quoted && *line == '\\' && line[1])
			n = 2;
		else if (!quoted && strchr("-0123456789", *line))
			n = strspn(line, "-+.0123456789Ee");
		fprintf(f, !quoted && is_large(line, n) ? "\"\\u0000%.*s\"" : "%.*s", (int)n, line);
	}
	fclose(f);
	return text;
}

/* Returns the row of a line; NULL if it is none.  Counts that a program passes can be too large for
 * jansson's integers. */
static json_t *merge_hosts_row_of(const char *line)
{
	json_t *row = json_loads(line, 0, NULL);
	char *text;

	if (row)
		return row;
	text = with_large(line);
	row = json_loads(text, JSON_ALLOW_NUL, NULL);
	free(text);
	return row;
}

static int small_of(const json_t *row, const char *key)
{
	unsigned long long n = merge_hosts_number_of(row, key, NO_VALUE);

	return n <= INT_MAX ? (int)n : -1;
}

static unsigned long long hash_in(const json_t *row)
{
	const char *text = merge_hosts_text_of(row, "communicator");

	return text ? strtoull(text, NULL, 16) : 0;
}

/* Returns the number of a value by its name; as many as there are if it has none. */
static unsigned named(const char *name, const char *(*name_of)(unsigned value), unsigned n)
{
	unsigned i = 0;

	while (i < n && !(name && name_of(i) && !strcmp(name, name_of(i))))
		i++;
	return i;
}

/* ---- Rows */

enum { NAMES = 16 };	/* values that an enum of NCCL may have */

static void set_operation(struct merged *r)
{
	const char *func = merge_hosts_text_of(r->row, "func");
	int id = func ? cuda_fn_find(func) : -1, call = r->call.func ? cuda_fn_find(r->call.func) : -1;
	bool mismatch = r->report.mismatch;

	r->m.func = -1;
	if (id < 0 || cuda_fns[id].lib != CUDA_NCCL)
		return;
	r->op = (struct comm_op){
		.func = id, .message = cuda_fns[id].args.peer, .number = merge_hosts_number_of(r->row, mismatch ? "about" : "number", 0),
		.count = merge_hosts_number_of(r->row, "count", 0), .type = named(merge_hosts_text_of(r->row, "data_type"), nccl_type_name, NAMES),
		.op = named(merge_hosts_text_of(r->row, "operator"), nccl_operator_name, NAMES),
		.other = cuda_fns[id].args.peer ? small_of(r->row, "peer") : small_of(r->row, "root"),
		.replayed = json_is_true(json_object_get(r->row, "replayed")),
	};
	/* its number has one that has not returned, too */
	r->op.number -= r->op.number && !mismatch && call >= 0 && hang_is_collective(call);
	r->m.func = id;
}

static void set_call(const struct merged *r, struct inflight_row *row, const char *key, const char *age)
{
	const char *name = merge_hosts_text_of(r->row, key);
	int id = name ? cuda_fn_find(name) : -1;

	row->func = id < 0 ? NULL : cuda_fns[id].name;
	row->age = merge_hosts_number_of(r->row, age, 0);
	row->comm = r->report.comm;
	row->pid = r->m.pid;
	row->tid = small_of(r->row, "tid");
}

/* Returns a rank's number, which is less than that of the ranks; -1: unknown. */
static int merge_hosts_rank_of(const json_t *row)
{
	int rank = small_of(row, "rank");

	return rank < small_of(row, "nranks") ? rank : -1;
}

static struct merged *new_row(json_t *row, const char *file)
{
	struct merged *r = xcalloc(1, sizeof(*r));
	const char *comm = merge_hosts_text_of(row, "comm"), *verdict = merge_hosts_text_of(row, "verdict");

	r->row = row;
	r->time = json_number_value(json_object_get(row, "time"));
	r->report = (struct hang_report){
		.row = row, .host = file, .comm = comm ?: "", .container = merge_hosts_text_of(row, "container"), .frames = json_object_get(row, "stack"),
		.name = { .rank = small_of(row, "job_rank"), .local_rank = small_of(row, "local_rank") },
		.mismatch = !strcmp(verdict, hang_words[HANG_MISMATCH]),
		.about = merge_hosts_number_of(row, "about", 0),
		.culprit = json_is_true(json_object_get(row, "culprit")),
	};
	r->m = (struct communicator){
		.hash = hash_in(row), .rank = merge_hosts_rank_of(row), .nranks = small_of(row, "nranks"),
		.pid = small_of(row, "pid"),
		.whole = json_is_true(json_object_get(row, "complete")), .collectives = merge_hosts_number_of(row, "number", 0),
		.device = DEVICE_NONE,
	};
	if (r->m.nranks < 0)
		r->m.nranks = 0;
	r->key = (struct rank_key){ r->m.hash, file, r->m.nranks, r->m.rank, r->m.pid, 0 };
	snprintf(r->m.comm, sizeof(r->m.comm), "%s", r->report.comm);
	set_call(r, &r->call, "call", "call_ns");
	set_call(r, &r->wait, "wait", "wait_ns");
	set_operation(r);
	return r;
}

static void free_row(struct merged *r)
{
	json_decref(r->row);
	free(r);
}

/* Replaces an earlier one of the same rank. */
static void add_row(struct merge *g, struct merged *r)
{
	struct merged *before;

	g->now = r->time > g->now ? r->time : g->now;
	g->first = r->time < g->first || !g->all ? r->time : g->first;
	HASH_FIND(hh, g->all, &r->key, sizeof(r->key), before);
	if (before) {
		HASH_DEL(g->all, before);
		free_row(before);
	}
	HASH_ADD(hh, g->all, key, sizeof(r->key), r);
}

/* A line of ncclhang's about a rank: nccltop's have no verdict. */
static bool is_rank(const json_t *row)
{
	return !strcmp(merge_hosts_text_of(row, "type"), "rank") && merge_hosts_text_of(row, "verdict");
}

static void read_file(struct merge *g, const char *name)
{
	FILE *f = strcmp(name, "-") ? fopen(name, "re") : stdin;
	size_t room = 0, number = 0;
	char *line = NULL;
	double time;

	if (!f)
		die(errno, "%s: cannot be read", name);
	while (getline(&line, &room, f) > 0) {
		json_t *row = merge_hosts_row_of(line);
		const char *type = merge_hosts_text_of(row, "type");

		number++;
		if (!type)
			die(0, "%s:%zu: no line of ncclhang --json", name, number);
		if (!is_rank(row)) {
			json_decref(row);
			continue;
		}
		time = json_number_value(json_object_get(row, "time"));
		if (!(time >= FIRST_S && time <= LAST_S))
			die(0, "%s:%zu: the time %g is not within %g to %g s since the epoch", name,
			    number, time, FIRST_S, LAST_S);
		add_row(g, new_row(row, name));
	}
	if (ferror(f))
		die(errno, "%s: cannot be read", name);
	free(line);
	fclose(f);
}

/* ---- Communicators */

/* Of the last row, by a clock that is made up; and as long as in one look, ns. */
static const unsigned long long NOW = 1000000000000000, STILL_NS = 500000000;

/* Returns a time between rows in ns, at most NOW. */
static unsigned long long between(double s)
{
	return s * 1e9 < NOW ? s * 1e9 : NOW;
}

/* Times are those of the last row: hosts' clocks are taken to agree. */
static void merge_hosts_add_rank(struct hangs *h, struct merged *r, double now)
{
	struct hang *hang = hangs_add(h, r->m.hash, r->m.nranks, 0);
	struct hang_rank *rank = hang_add(hang);
	const char *completion = merge_hosts_text_of(r->row, "completion");
	unsigned long long idle = merge_hosts_number_of(r->row, "idle_ns", 0);

	rank->m = json_is_string(json_object_get(r->row, "handle")) ? &r->m : NULL;
	rank->is_missing = !rank->m && !r->call.func;
	rank->report = &r->report;
	rank->name = r->report.name;
	rank->rank = r->m.rank;
	rank->pid = r->m.pid;
	rank->tid = r->call.tid;
	rank->number = r->m.collectives;
	rank->last = rank->op = r->m.func < 0 ? NULL : &r->op;
	rank->complete = !completion ? COMPLETE_UNKNOWN : !strcmp(completion, "complete") ? COMPLETE : COMPLETE_NOT;
	if (rank->last && rank->complete != COMPLETE)
		*(r->op.message ? &rank->message : &rank->first) = rank->last;
	rank->call = r->call.func ? &r->call : NULL;
	rank->wait = r->wait.func ? &r->wait : NULL;
	rank->moved = NOW - between(now - r->time);
	rank->moved -= idle < rank->moved ? idle : rank->moved;
	hang->whole &= r->m.whole;
}

/* jansson escapes other controls, but not DEL.  Of with_large(), only the digits. */
static void put_line(const char *json)
{
	static const char large[] = "\"\\u0000";
	enum { DEL = 0x7f };

	for (; *json; json++)
		if (*json == DEL) {
			fputs("\\u007f", stdout);
		} else if (!strncmp(json, large, sizeof(large) - 1)) {
			for (json += sizeof(large) - 1; *json != '"'; json++)
				putchar(*json);
		} else {
			putchar(*json);
		}
	putchar('\n');
}

/* The rows as they were read, with what is different now. */
static void merge_hosts_print_rows(void *ctx, const struct hang *h)
{
	(void)ctx;
	for (size_t i = 0; i < h->n; i++) {
		const struct hang_report *report = h->ranks[i].report;
		json_t *row = report->row;
		char *text;

		json_object_set_new(row, "verdict", json_string(hang_words[h->verdict]));
		json_object_set_new(row, "about", h->number ? json_integer(h->number) : json_null());
		json_object_set_new(row, "culprit", json_boolean(h->ranks[i].culprit));
		json_object_set_new(row, "here", json_integer(h->n));
		json_object_set_new(row, "host", json_string(report->host));
		text = json_dumps(row, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(TIME_DIGITS));
		if (!text)
			die(0, "out of memory");
		put_line(text);
		free(text);
	}
}

void merge_files(char **files, int n)
{
	struct merged *r, *next;
	struct merge g = { 0 };
	struct hangs h = { 0 };

	for (int i = 0; i < n; i++)
		read_file(&g, files[i]);
	for (r = g.all; r; r = r->hh.next)
		merge_hosts_add_rank(&h, r, g.now);
	/* hosts look at different times */
	hangs_judge(&h, NOW, between(g.now - g.first) + STILL_NS);
	causes_print(&(struct cause_printer){ .now = NOW, .rows = merge_hosts_print_rows }, &h);
	hangs_free(&h);
	HASH_ITER(hh, g.all, r, next) {
		HASH_DEL(g.all, r);
		free_row(r);
	}
}
