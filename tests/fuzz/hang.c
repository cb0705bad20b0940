/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Fuzzes what ncclhang writes of ranks with any names, sizes and times, and how it reads that: its
 * rows, which --merge reads, and the pickles of --dump.  After a first byte `r' --merge reads the
 * rest as it is.  Processes, maps, files and exit() are replaced: -Wl,--wrap. */
#define _GNU_SOURCE
#include <sanitizer/lsan_interface.h>
#include <setjmp.h>
#include "api/cuda_fn.h"
#include "cli/out.h"
#include "fuzz.h"
#include "inflight/inflight.h"
#include "nccl/communicators.h"
#include "ncclhang/cause_view.h"
#include "ncclhang/dump.h"
#include "ncclhang/hang.h"
#include "ncclhang/judge.h"
#include "ncclhang/merge_hosts.h"
#include "nccl/rank_name.h"
#include "session/event_loop.h"

enum { RANKS = 12, KEPT = 3, NOW_S = 1000 };

/* A rank, and what it points to. */
struct rank {
	struct communicator m;
	struct comm_op recent[RECENT];
	struct comm_peer peers[KEPT];
	struct inflight_row call, wait;
	char *comm;
};

static struct rank ranks[RANKS];
static char *container;
static unsigned nranks;
static jmp_buf ended;
static bool running;

static FILE *input;		/* of --merge */
static char *pickle;		/* that is written */
static size_t pickle_size;

FILE *__real_fopen(const char *path, const char *mode);
void __real_exit(int status);
void __wrap_exit(int status);
enum completeness __wrap_completion_of(const struct completion *c, const struct communicator *m,
				       const struct comm_op *op, unsigned long long now,
				       unsigned long long *noticed);
struct rank_name __wrap_rank_name_read(struct helper_pool *helpers, int pid);
const char *__wrap_process_container(struct process_table *t, int pid);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_out_file_stream(const char *path);
bool __wrap_out_file_close_or_remove(FILE *f, const char *path);

void __wrap_exit(int status)
{
	if (!running)
		__real_exit(status);
	longjmp(ended, 1 + status);
}

enum completeness __wrap_completion_of(const struct completion *c, const struct communicator *m,
				       const struct comm_op *op, unsigned long long now,
				       unsigned long long *noticed)
{
	(void)c, (void)m;
	*noticed = now / 2;
	return op->count % (COMPLETE + 1);
}

struct rank_name __wrap_rank_name_read(struct helper_pool *helpers, int pid)
{
	(void)helpers;
	return (struct rank_name){ pid % 7 - 1, pid % 5 - 1, "" };
}

const char *__wrap_process_container(struct process_table *t, int pid)
{
	(void)t;
	return pid % 3 ? container : NULL;
}

FILE *__wrap_fopen(const char *path, const char *mode)
{
	return running ? input : __real_fopen(path, mode);
}

FILE *__wrap_out_file_stream(const char *path)
{
	CHECK(printable(path, false) > 0);
	return open_memstream(&pickle, &pickle_size);
}

/* ---- A pickle, of the operations that the writer uses */

static const uint8_t *skip_value(const uint8_t *at, const uint8_t *end);

static const uint8_t *skip_text(const uint8_t *at, const uint8_t *end)
{
	unsigned size;

	CHECK(end - at >= 5);
	memcpy(&size, at + 1, sizeof(size));
	CHECK(end - at - 5 >= size);
	for (at += 5; size; size--, at++)
		CHECK(*at >= ' ' && *at <= '~');
	return at;
}

/* Of an even number for a dict. */
static const uint8_t *skip_all(const uint8_t *at, const uint8_t *end, uint8_t last, unsigned step)
{
	unsigned n = 0;

	for (; at < end && *at != last; n++)
		at = skip_value(at, end);
	CHECK(at < end && n % step == 0);
	return at + 1;
}

static const uint8_t *skip_value(const uint8_t *at, const uint8_t *end)
{
	CHECK(at < end);
	switch (*at) {
	case 'X':
		return skip_text(at, end);
	case 0x8a:
		CHECK(end - at >= 11 && at[1] == 9 && !at[10]);
		return at + 11;
	case 0x88:
	case 0x89:
		return at + 1;
	case '}':
		CHECK(end - at >= 2 && at[1] == '(');
		return skip_all(at + 2, end, 'u', 2);
	default:
		CHECK(*at == ']' && end - at >= 2 && at[1] == '(');
		return skip_all(at + 2, end, 'e', 1);
	}
}

bool __wrap_out_file_close_or_remove(FILE *f, const char *path)
{
	const uint8_t *at, *end;

	(void)path;
	fclose(f);
	at = (const uint8_t *)pickle;
	end = at + pickle_size;
	CHECK(pickle_size > 4 && at[0] == 0x80 && at[1] == 2 && at[2] == '}');
	at = skip_value(at + 2, end);
	CHECK(end - at == 1 && *at == '.');
	free(pickle);
	return true;
}

/* ---- Ranks */

static int operation(unsigned n)
{
	static int ids[CUDA_ID_MAX], nids;

	for (int i = 0; !nids || (i && i < CUDA_ID_MAX); i++)
		if (cuda_fns[i].lib == CUDA_NCCL && cuda_fns[i].class == CUDA_OPERATION)
			ids[nids++] = i;
	return ids[n % nids];
}

static void take_op(struct input *in, struct comm_op *op, unsigned long long number)
{
	*op = (struct comm_op){
		.func = operation(take(in, 1)), .number = number,
		.count = take(in, take(in, 1) % 9), .stream = take(in, 2),
		.other = (int)take(in, 1) - 1, .type = take(in, 1) % 16, .op = take(in, 1) % 8,
		.start = take(in, 4), .replayed = take(in, 1) & 1,
	};
	op->message = cuda_fns[op->func].args.peer;
}

static void take_row(struct input *in, struct inflight_row *row, const struct rank *r)
{
	*row = (struct inflight_row){
		.func = cuda_fns[take(in, 2) % CUDA_ID_MAX].name, .comm = r->comm, .pid = r->m.pid,
		.tid = take(in, 4) & 0x7fffffff, .age = take(in, take(in, 1) % 9),
		.nccl = { .is_nccl = take(in, 1) & 1, .count = take(in, 1), .type = take(in, 1) },
	};
}

static void take_messages(struct input *in, struct rank *r, struct hang_rank *rank)
{
	r->m.message = (struct comm_op){
		.func = take(in, 1) & 1 ? CUDA_ID_ncclSend : CUDA_ID_ncclRecv, .number = 1, .message = true, .other = (int)take(in, 1) % 4,
		.time = take(in, 1),
	};
	for (int i = 0; i < KEPT; i++)
		r->peers[i] = (struct comm_peer){ .rank = i, .sent = take(in, 1) % 3, .received = take(in, 1) % 3 };
	r->m.peers = (struct comm_peers){ .all = r->peers, .n = KEPT, .incomplete = take(in, 1) & 1 };
	rank->message = &r->m.message;
}

static void take_rank(struct input *in, struct hangs *h)
{
	struct rank *r = &ranks[nranks++];
	struct hang_rank *rank;
	unsigned has = take(in, 1);
	struct hang *hang;

	r->m = (struct communicator){
		.recent = r->recent, .hash = take(in, 1) % 4, .pid = 1 + take(in, 1) % 16,
		.nranks = take(in, 1) % 4 ? 3 : take(in, 4) & 0x7fffffff,
		.whole = !(has & 1), .handle = 1, .func = -1,
		.collectives = take(in, 1) % 8 ? 5 : take(in, 8) >> 2,
	};
	r->m.rank = take(in, 1) % 4 ? take(in, 1) % 3 : take(in, 4) & 0x7fffffff;
	r->comm = take_text(in);
	snprintf(r->m.comm, sizeof(r->m.comm), "%s", r->comm);
	for (unsigned long long n = r->m.collectives; n && r->m.collectives - n < KEPT; n--)
		take_op(in, &r->recent[n % RECENT], n);
	hang = hangs_add(h, r->m.hash, r->m.nranks, 0);
	hang->whole &= r->m.whole;
	rank = hang_add(hang);
	rank->m = has & 2 ? NULL : &r->m;
	rank->is_missing = has & 2;
	rank->rank = r->m.rank;
	rank->pid = r->m.pid;
	rank->tid = take(in, 4) & 0x7fffffff;
	rank->number = r->m.collectives;
	rank->last = rank->op = rank->m ? communicator_last(rank->m) : NULL;
	rank->complete = take(in, 1) % (COMPLETE + 1);
	rank->has_ended = has & 4 && rank->m;
	rank->moved = take(in, take(in, 1) % 9);
	take_row(in, &r->call, r);
	take_row(in, &r->wait, r);
	rank->name.rank = has & 32 ? (int)take(in, 1) % 4 : -1;
	if (rank->m && rank->last && has & 64)
		rank->first = communicator_collective(rank->m, r->m.collectives);
	if (rank->m && rank->last && has & 128)
		take_messages(in, r, rank);
	rank->call = has & 8 ? &r->call : NULL;
	rank->wait = has & 16 ? &r->wait : NULL;
}

/* ---- The two outputs */

static bool merge(const char *rows, size_t size, bool json)
{
	char *paths[] = { "rows.json" };
	volatile int status;

	input = fmemopen((void *)rows, size, "r");
	out_set_json(json);
	capture(true);
	__lsan_disable();	/* exit() would have freed it */
	running = true;
	status = setjmp(ended);
	if (!status)
		merge_files(paths, 1);
	running = false;
	__lsan_enable();
	if (status)
		fclose(input);
	CHECK(status == 0 || status == 2);
	return !status;
}

static void check_rows(const char *rows)
{
	char *copy = strdup(rows);
	const char *said;
	bool ok;

	if (!*copy) {
		free(copy);
		return;
	}
	ok = merge(copy, strlen(copy), true);
	said = captured();
	if (!ok || !is_json(said))
		fprintf(stderr, "%s\ngives\n%s\n", copy, said);
	CHECK(ok && is_json(said));
	CHECK(merge(copy, strlen(copy), false));
	CHECK(printable(captured(), true) >= 0);
	free(copy);
}

static void check_hangs(struct hangs *h)
{
	const struct cause_printer printer = { .now = NOW_S * 1000000000ull, .ranks = true, .clock = true };
	static struct event_loop events;
	const struct dump_files files = { .prefix = "prefix", .apart = true, .events = &events };

	hangs_judge(h, NOW_S * 1000000000ull, 500000000);
	out_set_json(false);
	capture(false);
	causes_print(&printer, h);
	CHECK(printable(captured(), true) >= 0);
	out_set_json(true);
	capture(false);
	causes_print(&printer, h);
	check_rows(captured());
	capture(true);
	CHECK(dump_write(&files, h, 0));
	CHECK(printable(captured(), true) >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, size };
	struct hangs h = { 0 };

	if (size > 1 && *data == 'r') {
		bool ok = merge((const char *)data + 1, size - 1, size % 2);
		const char *said = captured();

		CHECK(!ok || !(size % 2) || is_json(said));
		CHECK(printable(said, true) >= 0);
		return 0;
	}
	memset(ranks, 0, sizeof(ranks));
	nranks = 0;
	take(&in, 1);
	container = take_text(&in);
	while (in.left && nranks < RANKS)
		take_rank(&in, &h);
	check_hangs(&h);
	hangs_free(&h);
	for (unsigned i = 0; i < nranks; i++)
		free(ranks[i].comm);
	free(container);
	return 0;
}
