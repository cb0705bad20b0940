/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Answer of NCCL 2.24 to 2.28.6: rasClientRunInit(), rasClientRunComms() and rasClientBreakDownErrors(), in its
 * src/ras/client_support.cc.  A communicator with a problem has a paragraph for each kind of problem:
 *
 *   #0-0 (cf264af53edbe986) MISMATCH
 *     Communicator ranks have different AllReduce operation counts
 *     6 ranks have launched up to operation 1409
 *     Rank 5 has launched up to operation 1408 -- GPU 1 managed by process 4715 on node 10.0.0.2
 *
 * Verbose text names the ranks of a group if they are less than half of all, or one.  If those of one group are not named,
 * they are the rest.
 *
 * NCCL 2.26 to 2.28 skip too little memory after a communicator that has missing ranks (rasClientRunComms(), the loop over
 * commsData->comms), and print what is there as further communicators, with sizes and ranks that cannot be. */
#include <limits.h>
#include <string.h>
#include "base/die.h"
#include "base/util.h"
#include "ncclhang/ras_read.h"

/* A row of the table of groups, in which communicators are alike. */
struct row {
	int size;		/* of each communicator; 0 if it cannot be */
	enum ras_state state;	/* of the ranks that are not said to have another */
};

enum topic { NO_TOPIC, MISSING, INIT_ERROR, ASYNC_ERROR, STATUS, COUNTS };

/* Lines about one property of a communicator's ranks. */
struct block {
	enum topic topic;
	int function;		/* COUNTS: of this one, or of all if it is -1 */
	unsigned long long value;	/* of the group that is being listed */
	int n, listed;		/* how many ranks are in it, and were named */
	int nwhole, whole_n;	/* groups of which no ranks were named; the last one's ranks, and value */
	unsigned long long whole;
};

struct text_reader {
	struct ras_reader to;
	struct row *rows;
	int nrows, rows_room;
	bool in_rows, has_comms, has_errors, has_warnings;
	int ncomms;		/* in all rows */
	int comm, first;	/* the current communicator's index and that of its first rank; comm is -1 if there is none */
	bool may_garble;	/* the version may, so that paragraphs that cannot be are left out */
	bool in_garbled;	/* such a paragraph: its lines are left out */
	bool has_missing;	/* a communicator has missing ranks */
	bool dead;		/* lines of processes are about dead ones */
	bool has_dead, has_unresponsive;
	struct block block;
	bool *listed;		/* in this block, by rank; of the current communicator */
};

/* NCCL's lineBuf, in which longer lists are cut off. */
enum { LIST_SIZE = 1024 };

/* Move *at behind a literal, a number.  Return false if there is none. */
static bool skip(const char **at, const char *literal)
{
	size_t n = strlen(literal);

	if (strncmp(*at, literal, n))
		return false;
	*at += n;
	return true;
}

static bool take_count(const char **at, unsigned long long *value)
{
	const char *s = *at;

	*value = 0;
	for (; *s >= '0' && *s <= '9'; s++)
		if (__builtin_mul_overflow(*value, 10, value) || __builtin_add_overflow(*value, *s - '0', value))
			return false;
	if (s == *at || *value == NO_VALUE)
		return false;
	*at = s;
	return true;
}

static bool take_int(const char **at, int *value)
{
	unsigned long long n;

	if (!take_count(at, &n) || n > INT_MAX)
		return false;
	*value = n;
	return true;
}

/* NCCL prints "-1" for a device that it does not know. */
static bool take_device(const char **at, int *value)
{
	*value = -1;
	return skip(at, "-1") || take_int(at, value);
}

/* "UNKNOWN" is what 2.24 and 2.25 print for NOCOMM. */
static bool take_state(const char **at, unsigned long long *state)
{
	static const struct { const char *name; enum ras_state state; } states[] = {
		{ "NOCOMM", RAS_NOCOMM }, { "UNKNOWN", RAS_NOCOMM }, { "INIT", RAS_INIT }, { "RUNNING", RAS_RUNNING },
		{ "FINALIZE", RAS_FINALIZE }, { "ABORT", RAS_ABORT },
	};

	for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++)
		if (skip(at, states[i].name)) {
			*state = states[i].state;
			return true;
		}
	return false;
}

/* ncclErrorToString(); its last one is for any other number. */
static bool take_error(const char **at, unsigned long long *result)
{
	static const char *const errors[] = {
		"Unhandled CUDA error", "System error", "Internal error", "Invalid argument", "Invalid usage",
		"Remote process error", "NCCL operation in progress", "Unexpected error",
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
		if (skip(at, errors[i])) {
			*result = i + 1;
			return true;
		}
	return false;
}

static bool is_missing(enum ras_state state)
{
	return state == RAS_NOCOMM || state == RAS_UNRESPONSIVE || state == RAS_DEAD || state == RAS_MISSING;
}

static struct ras_comm *ras_text_comm_of(struct text_reader *t)
{
	return &t->to.r->comms[t->comm];
}

static struct ras_rank *ras_text_rank_of(struct text_reader *t, int rank)
{
	return &t->to.r->ranks[t->first + rank];
}

static void apply(struct text_reader *t, struct ras_rank *rank, unsigned long long value)
{
	switch (t->block.topic) {
	case STATUS:
		if (value != RAS_NOCOMM || !is_missing(rank->state))	/* 2.24 has UNKNOWN for any that is missing */
			rank->state = value;
		break;
	case INIT_ERROR: rank->init_result = value; break;
	case ASYNC_ERROR: rank->async_error = value; break;
	case COUNTS:
		if (t->block.function < 0)
			rank->total = value;
		else
			rank->counts[t->block.function] = value;
		break;
	default: break;
	}
}

static void end_group(struct block *b)
{
	if (b->n && !b->listed) {
		b->nwhole++;
		b->whole = b->value;
		b->whole_n = b->n;
	}
	b->n = b->listed = 0;
}

/* Whether a rank may be in a group whose ranks were not named. */
static bool is_rest(struct text_reader *t, int i)
{
	enum ras_state state = ras_text_rank_of(t, i)->state;

	return !t->listed[i] && (t->block.topic == STATUS ? state == RAS_STATE_UNKNOWN : !is_missing(state));
}

static void end_block(struct text_reader *t)
{
	struct block *b = &t->block;
	int rest = 0;

	end_group(b);
	if (t->comm >= 0 && b->nwhole == 1 && (b->topic == STATUS || b->topic == COUNTS)) {
		for (int i = 0; i < ras_text_comm_of(t)->size; i++)
			rest += is_rest(t, i);
		for (int i = 0; rest == b->whole_n && i < ras_text_comm_of(t)->size; i++)
			if (is_rest(t, i)) {
				apply(t, ras_text_rank_of(t, i), b->whole);
				t->listed[i] = true;
			}
	}
	*b = (struct block){ 0 };
}

static void begin_block(struct text_reader *t, enum topic topic, int function)
{
	end_block(t);
	t->block.topic = topic;
	t->block.function = function;
	memset(t->listed, 0, ras_text_comm_of(t)->size);
	/* the row has one state of several */
	for (int i = 0; topic == STATUS && i < ras_text_comm_of(t)->size; i++)
		if (!is_missing(ras_text_rank_of(t, i)->state) || ras_text_rank_of(t, i)->state == RAS_NOCOMM)
			ras_text_rank_of(t, i)->state = RAS_STATE_UNKNOWN;
}

/* "    0         1         4       7-8        32        32   RUNNING  INCOMPLETE" */
static bool parse_row(struct text_reader *t, const char *at, struct row *to)
{
	int group, comms, nodes, per_node, in_group;
	unsigned long long state;
	struct row row = { 0 };

#define NEXT(value) (at += strspn(at, " "), take_int(&at, value))
	if (!NEXT(&group) || !NEXT(&comms) || !NEXT(&nodes) || !NEXT(&per_node) || (skip(&at, "-") && !NEXT(&per_node)) ||
	    !NEXT(&row.size) || !NEXT(&in_group))
		return false;
	at += strspn(at, " ");
	if (group != t->nrows || row.size < 1 || !take_state(&at, &state) ||
	    __builtin_add_overflow(t->ncomms, comms, &t->ncomms))
		return false;
	row.state = state;
	*to = row;
	return true;
}

static bool read_row(struct text_reader *t, const char *line)
{
	struct row row = { 0 };

	if (!parse_row(t, line, &row)) {
		if (!t->may_garble)
			return false;
		t->to.r->garbled = true;
	}
	if (t->nrows == RAS_COMMS_MAX)
		return false;
	ALLOC_GROW(t->rows, t->nrows, t->rows_room);
	t->rows[t->nrows++] = row;
	return true;
}

static bool add_comm(struct text_reader *t, int group, unsigned long long hash)
{
	int size = t->rows[group].size;
	struct ras_comm *comm = size && size <= RAS_RANKS_MAX - t->to.nranks ? ras_add_comm(&t->to) : NULL;

	t->comm = -1;
	if (!comm)
		return false;
	comm->hash = hash;
	comm->size = size;
	t->comm = t->to.r->ncomms - 1;
	t->first = t->to.nranks;
	t->listed = xrealloc(t->listed, size, 1);
	for (int i = 0; i < size; i++) {
		struct ras_rank *rank = ras_add_rank(&t->to);

		rank->rank = i;
		rank->state = t->rows[group].state;
	}
	return true;
}

/* Makes the communicator with this hash the current one, which has a paragraph among the errors and among the warnings. */
static bool find_comm(struct text_reader *t, int group, unsigned long long hash)
{
	t->first = 0;
	for (t->comm = 0; t->comm < t->to.r->ncomms; t->comm++) {
		if (ras_text_comm_of(t)->hash == hash && ras_text_comm_of(t)->size == t->rows[group].size) {
			t->listed = xrealloc(t->listed, ras_text_comm_of(t)->size, 1);
			return true;
		}
		t->first += ras_text_comm_of(t)->size;
	}
	return add_comm(t, group, hash);
}

/* "0-0 (cf264af53edbe986) INCOMPLETE" */
static bool ras_text_read_comm(struct text_reader *t, const char *at)
{
	unsigned long long hash = 0;
	int group, index;

	end_block(t);
	t->comm = -1;
	if (!take_int(&at, &group) || !skip(&at, "-") || !take_int(&at, &index) || !skip(&at, " (") || group >= t->nrows)
		return false;
	for (int i = 0; i < 16; i++) {
		const char *digits = "0123456789abcdef", *digit = *at ? strchr(digits, *at++) : NULL;

		if (!digit)
			return false;
		hash = hash << 4 | (digit - digits);
	}
	return skip(&at, ") ") && find_comm(t, group, hash);
}

/* "4715 on node 10.0.0.2" */
static bool take_process(const char **at, int *pid, char host[RAS_HOST_SIZE])
{
	if (!take_int(at, pid) || !skip(at, " on node "))
		return false;
	*at = ras_take_host(host, *at);
	return *at;
}

/* "GPU 1 (NVML 5) managed by process 4715 on node 10.0.0.2", or "[process information not found]" */
static bool read_place(struct ras_rank *rank, const char *at)
{
	if (skip(&at, "[process information not found]"))
		return !*at;
	if (!skip(&at, "GPU ") || !take_device(&at, &rank->device))
		return false;
	rank->nvml_device = rank->device;
	if (skip(&at, " (NVML ") && (!take_device(&at, &rank->nvml_device) || !skip(&at, ")")))
		return false;
	return skip(&at, " managed by process ") && take_process(&at, &rank->pid, rank->host) && !*at;
}

static bool is_dead(const struct ras *r, const struct ras_rank *rank)
{
	for (int i = 0; i < r->nprocesses; i++)
		if (r->processes[i].dead && r->processes[i].pid == rank->pid && !strcmp(r->processes[i].host, rank->host))
			return true;
	return false;
}

static enum ras_state state_of_missing(const struct text_reader *t, const struct ras_rank *rank)
{
	if (t->has_dead && !t->has_unresponsive)
		return RAS_DEAD;
	if (t->has_unresponsive && !t->has_dead)
		return RAS_UNRESPONSIVE;
	if (rank->pid < 0)
		return RAS_MISSING;
	return is_dead(t->to.r, rank) ? RAS_DEAD : RAS_UNRESPONSIVE;
}

/* State of one rank, or ranks: "has status RUNNING", "reported System error", "have not launched any
 * operations".  The block's topic decides which. */
static bool take_value(const struct text_reader *t, const char **at, unsigned long long *value)
{
	if (t->block.topic == INIT_ERROR || t->block.topic == ASYNC_ERROR)
		return skip(at, " reported ") && take_error(at, value);
	if (!skip(at, " has ") && !skip(at, " have "))
		return false;
	if (t->block.topic == STATUS)
		return skip(at, "status ") && take_state(at, value);
	if (t->block.topic != COUNTS)
		return false;
	if (skip(at, "launched up to operation "))
		return take_count(at, value);
	*value = 0;
	return skip(at, "not launched any operations");
}

/* "6 ranks have launched up to operation 1409" */
static bool read_group(struct text_reader *t, const char *at)
{
	struct block *b = &t->block;

	end_group(b);
	return take_int(&at, &b->n) && b->n && skip(&at, " ranks") && take_value(t, &at, &b->value);
}

/* "5 has launched up to operation 1408 -- GPU 1 managed by process 4715 on node 10.0.0.2", or, of a group that was named
 * before, "5 -- GPU ...".  2.24 and 2.25 have "5 has status UNKNOWN" only. */
static bool read_rank(struct text_reader *t, const char *at)
{
	bool in_group = t->block.n || t->block.topic == MISSING;
	unsigned long long value = t->block.value;
	struct ras_rank *rank;
	int number;

	if (!take_int(&at, &number) || number >= ras_text_comm_of(t)->size)
		return false;
	rank = ras_text_rank_of(t, number);
	if (strncmp(at, " -- ", 4)) {
		end_group(&t->block);
		in_group = take_value(t, &at, &value);
	}
	if (!in_group || (*at && (!skip(&at, " -- ") || !read_place(rank, at))))
		return false;
	t->block.listed++;
	t->listed[number] = true;
	if (t->block.topic == MISSING)
		rank->state = state_of_missing(t, rank);
	else
		apply(t, rank, value);
	t->has_missing = t->has_missing || is_missing(rank->state);
	return true;
}

/* "5,6,7": of NCCL 2.24 and 2.25, which do not print why a rank is missing. */
static bool read_list(struct text_reader *t, const char *at, enum ras_state state)
{
	bool cut_off = strlen(at) >= LIST_SIZE - 1;
	int number;

	do {
		if (!take_int(&at, &number) || number >= ras_text_comm_of(t)->size)
			return cut_off && !*at;
		if (cut_off && !*at)
			break;
		t->block.listed++;
		t->listed[number] = true;
		if (!is_missing(ras_text_rank_of(t, number)->state))
			ras_text_rank_of(t, number)->state = state;
	} while (skip(&at, ","));
	return !*at;
}

static bool read_topic(struct text_reader *t, const char *at)
{
	const char *end;
	int function;

	if (skip(&at, "status")) {
		begin_block(t, STATUS, 0);
		return true;
	}
	end = strchr(at, ' ');
	if (!end)
		return false;
	function = ras_function_find(at, end - at);
	if (function < 0 && !skip(&at, "collective "))
		return false;
	begin_block(t, COUNTS, function);
	return true;
}

static bool read_of_comm(struct text_reader *t, const char *at)
{
	if (skip(&at, "Rank "))
		return read_rank(t, at);
	if (skip(&at, "Communicator ranks have different "))
		return read_topic(t, at);
	if (skip(&at, "The missing rank: ") || skip(&at, "The missing ranks: "))
		return read_list(t, at, RAS_MISSING);
	if (skip(&at, "The unknown ranks: "))
		return read_list(t, at, RAS_NOCOMM);
	if (skip(&at, "Missing communicator data from ")) {
		begin_block(t, MISSING, 0);
		return true;
	}
	if (skip(&at, "Initialization error")) {
		begin_block(t, INIT_ERROR, 0);
		return true;
	}
	if (skip(&at, "Asynchronous error")) {
		begin_block(t, ASYNC_ERROR, 0);
		return true;
	}
	return read_group(t, at);
}

/* Lines between the sections' heads and the first communicator. */
static bool read_of_job(struct text_reader *t, const char *at)
{
	struct ras_process *p;

	if (skip(&at, "Encountered "))
		return take_int(&at, &t->to.r->timeouts);
	if (!skip(&at, "Process "))
		return true;
	p = ras_add_process(&t->to);
	if (!p)
		return false;
	p->dead = t->dead;
	return take_process(&at, &p->pid, p->host) && skip(&at, " managing GPU");
}

static bool is_title(const char *line, struct text_reader *t)
{
	if (!strcmp(line, "Errors"))
		t->has_errors = true;
	else if (!strcmp(line, "Warnings") && t->has_errors)
		t->has_warnings = true;
	else if (!strcmp(line, "INCOMPLETE"))
		t->has_unresponsive = true;
	else if (!strcmp(line, "DEAD"))
		t->has_dead = true;
	else if (strcmp(line, "TIMEOUT"))
		return false;
	t->dead = !strcmp(line, "DEAD");
	t->in_garbled = false;
	end_block(t);
	t->comm = -1;
	return true;
}

/* Leaves out the communicator, if it was just added, and the lines about it. */
static bool leave_out(struct text_reader *t)
{
	struct ras *r = t->to.r;

	if (!t->may_garble)
		return false;
	if (t->comm >= 0 && t->comm == r->ncomms - 1) {
		t->to.nranks -= ras_text_comm_of(t)->size;
		r->ncomms--;
	}
	t->comm = -1;
	t->block = (struct block){ 0 };
	t->in_garbled = r->garbled = true;
	return true;
}

static bool ras_text_find_version(struct text_reader *t, const char *at)
{
	char *version = t->to.r->version;

	if (!ras_take_version(version, at))
		return false;
	t->may_garble = !strncmp(version, "2.26.", 5) || !strncmp(version, "2.27.", 5) || !strncmp(version, "2.28.", 5);
	return true;
}

static bool read_line(struct text_reader *t, const char *line)
{
	if (!t->has_comms) {
		if (skip(&line, "NCCL version "))
			return ras_text_find_version(t, line);
		t->has_comms = skip(&line, "Communicators...");
		return true;
	}
	if (!*line) {
		t->in_rows = false;
		return true;
	}
	if (is_title(line, t))
		return true;
	if (!t->has_errors) {
		if (t->in_rows && strcmp(line, "No communicator data collected!"))
			return read_row(t, line);
		t->in_rows = strstr(line, "#  in group");
		return true;
	}
	if (skip(&line, "#")) {
		t->in_garbled = false;
		return ras_text_read_comm(t, line) || leave_out(t);
	}
	if (!skip(&line, "  "))
		return *line == '=';
	if (t->in_garbled)
		return true;
	return t->comm < 0 ? read_of_job(t, line) : read_of_comm(t, line) || leave_out(t);
}

bool ras_read_text(char *text, size_t size, struct ras *r)
{
	struct text_reader t = { .to.r = r, .comm = -1 };
	bool ok = !memchr(text, '\0', size);

	r->text = true;
	for (char *line = text, *end; ok && (end = strchr(line, '\n')); line = end + 1) {
		*end = '\0';
		ok = read_line(&t, line);
	}
	if (ok)
		end_block(&t);
	r->garbled = r->garbled || (t.may_garble && t.has_missing && t.ncomms > 1);
	r->unnamed = r->garbled ? 0 : t.ncomms - r->ncomms;
	free(t.rows);
	free(t.listed);
	ras_place_ranks(r);
	return ok && t.has_warnings && *r->version && r->unnamed >= 0;
}
