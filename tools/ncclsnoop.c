// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* ncclsnoop - print each call of NCCL that begins an operation, or makes or ends a communicator */
#include "abi/nccl_event.h"
#include "abi/launch.h"
#include "api/cuda_err.h"
#include "api/nccl.h"
#include "cli/row.h"
#include "model/captures.h"
#include "nccl/communicators.h"
#include "session/call_lines.h"
#include "session/tool.h"
#include "sym/syms.h"
#include "view/columns.h"
#include "view/stack_view.h"
#include "nccl.skel.h"

static const struct usage usage = {
	.args = "",
	.what = "Print each call of NCCL: the communicator and the rank, what is sent or reduced, the time\n"
		"that the call took, and the error if it failed.",
	.examples =
	"  ncclsnoop                         # everything, of all processes\n"
	"  ncclsnoop -p 181 -x -k            # failures, with call stacks\n"
	"  ncclsnoop -m 64m -T               # operations on 64 MiB and more; the time\n"
	"  ncclsnoop --slower 1000           # calls that took a millisecond and more\n"
	"  ncclsnoop -jc './ranks.py 4'      # one command, as JSON lines\n"
	"  ncclsnoop --pprof calls.pb.gz -p 181 # for go tool pprof\n",
};

static const struct profile_kind called = { .values = { { "calls", "count" }, { "time", "nanoseconds" } } };

struct snoop_row {
	struct call call;
	unsigned long long number, operations, count, size, stream, handle, hash;
	unsigned long long rank, nranks, root, peer;
	unsigned int device;
	const char *container, *ranks, *type, *op, *other, *result;
	bool complete, captured, replayed, grouped;
};

OUT_WORD(row_type, "nccl");

#define AT(f) offsetof(struct snoop_row, f)
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* a call of NCCL */
	CALL_BEGIN_FIELDS,
	{ "container", NULL, -12, OUT_STR, AT(container) },
	{ "communicator", "COMMUNICATOR", -18, OUT_PTR, AT(hash) },	/* its hash, as in messages of NCCL; null if unknown */
	{ "handle", NULL, 0, OUT_PTR, AT(handle) },	/* the ncclComm_t; null if there is none */
	{ NULL, "RANK", -9, OUT_STR, AT(ranks) },
	{ "rank", NULL, 0, OUT_UINT, AT(rank) },	/* in the communicator; null if unknown */
	{ "nranks", NULL, 0, OUT_UINT, AT(nranks) },	/* of the communicator; null if unknown */
	{ "number", "NUMBER", 7, OUT_UINT, AT(number) },	/* of operations of the communicator by the process so far, with this one */
	{ "operations", NULL, 0, OUT_UINT, AT(operations) },	/* in the object */
	{ "func", "FUNCTION", -18, OUT_STR, AT(call.func) },
	{ "count", "COUNT", 10, OUT_UINT, AT(count) },	/* of values; null if none, or several */
	{ "data_type", "TYPE", -6, OUT_STR, AT(type) },	/* i8, u8, i32, u32, i64, u64, f16, f32, f64, bf16, f8e4m3 or f8e5m2 */
	{ "operator", "OP", -6, OUT_STR, AT(op) },	/* sum, prod, max, min, avg or custom */
	{ NULL, "ROOT/PEER", -9, OUT_STR, AT(other) },
	{ "root", NULL, 0, OUT_UINT, AT(root) },	/* rank; null if none, or several */
	{ "peer", NULL, 0, OUT_UINT, AT(peer) },	/* rank; null if none, or several */
	{ "size", "BYTES", 10, OUT_SIZE, AT(size) },	/* of the values of all operations */
	{ "device", NULL, 6, OUT_DEVICE, AT(device) },	/* of the stream; null if unknown */
	{ "stream", NULL, -14, OUT_STREAM, AT(stream) },	/* of the operation */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },	/* false if the communicator was made before tracing began */
	{ "latency_ns", "LAT(us)", 9, OUT_US, AT(call.latency) },	/* of the call, or of the launch of the graph: the operation itself may last longer */
	{ "captured", NULL, 0, OUT_BOOL, AT(captured) },	/* the call is part of a CUDA graph, and did not run */
	{ "replayed", NULL, 0, OUT_BOOL, AT(replayed) },	/* the launch of a CUDA graph that has captured the call has begun the operation */
	{ "grouped", NULL, 0, OUT_BOOL, AT(grouped) },	/* the call is in a group, and takes effect at its end */
	{ "ret", NULL, 0, OUT_INT, AT(call.ret) },	/* result; 0: success, 7: it goes on */
	CALL_END_FIELDS,
	{ 0 }
};

/* Of a launch whose operations are of more kinds than it gets lines: by function. */
enum { KINDS = 8, FUNCTIONS = 32 };
#define DIFFERENT (~0u)			/* the type, or the operator */

struct function_sum {
	struct nccl_event event;	/* of the first kind, without its communicator */
	unsigned long long n, bytes;
};

struct snoop {
	struct call_lines lines;
	struct function_sum functions[FUNCTIONS];
	unsigned nfunctions;
	long min;		/* bytes */
	long max, printed;	/* lines; max: 0 = no limit */
	struct communicators communicators;
	struct captures captures;
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];	/* the columns */
	struct devices_seen devices;	/* several: with a column */
	struct session session;
	struct event_loop events;
	struct nccl_bpf *skel;
};

/* Buffers of a row's texts. */
struct texts { char ranks[24], other[16], result[40]; };

/* Returns the row of calls, without what the session knows of their process. */
static struct snoop_row snoop_row(const struct comm_calls *calls, const struct communicator *c,
				  struct texts *t)
{
	const struct nccl_event *e = calls->event;
	const struct cuda_fn *fn = &cuda_fns[e->head.kind];
	const struct cuda_args *args = &fn->args;
	bool operation = fn->class == CUDA_OPERATION;

	snprintf(t->ranks, sizeof(t->ranks), "%d/%d", c->rank, c->nranks);
	snprintf(t->other, sizeof(t->other), "%d", e->other);
	snprintf(t->result, sizeof(t->result), "replayed, %llu operations", calls->n);
	return (struct snoop_row){
		.call = CALL_OF(e, fn), .count = args->count ? e->count : OUT_NONE, .size = calls->bytes,
		.operations = calls->n,
		.stream = args->stream ? stream_of(fn, e->stream) : OUT_NONE, .handle = e->handle ?: OUT_NONE,
		.hash = c->hash ?: OUT_NONE, .ranks = c->nranks ? t->ranks : NULL,
		.number = operation && c->handle && !e->capture && !nccl_event_failed(e) ? c->total.operations : OUT_NONE,
		.rank = c->nranks ? (unsigned)c->rank : OUT_NONE, .nranks = c->nranks ? (unsigned)c->nranks : OUT_NONE,
		.root = args->root && e->other >= 0 ? (unsigned)e->other : OUT_NONE,
		.peer = args->peer && e->other >= 0 ? (unsigned)e->other : OUT_NONE,
		.device = e->device,
		.type = args->dtype ? nccl_type_name(e->type) : NULL,
		.op = args->redop && e->op != DIFFERENT ? nccl_operator_name(e->op) : NULL,
		.other = (args->root || args->peer) && (calls->n == 1 || e->other >= 0) ?
			 t->other : NULL,
		.complete = c->whole, .captured = e->capture, .replayed = e->replayed, .grouped = e->grouped,
	};
}

/* A column that is first needed by this row is added, and the head printed again. */
static void add_columns(struct snoop *s, const struct snoop_row *r)
{
	bool more = false;

	devices_see(&s->devices, r->device);
	if (s->devices.several)
		more |= columns_show(s->fields, "device", "DEVICE");
	if (r->container)
		more |= columns_show(s->fields, "container", "CONTAINER");
	if (more)
		out_head(s->fields);
}

static bool wanted(const struct snoop *s, const struct snoop_row *r, const struct nccl_event *e)
{
	if (!r->operations || (s->lines.failed && !nccl_event_failed(e)) ||
	    (s->lines.slower && r->call.latency < (unsigned long)s->lines.slower))
		return false;
	if (s->session.devices && !device_is_in(s->session.devices, r->device))
		return false;
	return !s->min || r->operations > 1 ||	/* of a launch: communicators.least */
	       (r->size != OUT_NONE && r->size >= (unsigned long)s->min);
}

static bool is_done(const struct snoop *s)
{
	return s->max && s->printed >= s->max;
}

static bool tick(void *ctx)
{
	return !is_done(ctx);
}

static const char *result_of(const struct comm_calls *calls, struct texts *t)
{
	const struct nccl_event *e = calls->event;

	if (e->capture)
		return "captured";
	if (e->replayed)
		return calls->n > 1 ? t->result : "replayed";
	if (e->grouped && !nccl_event_failed(e))
		return "grouped";
	return cuda_err_text(cuda_fns[e->head.kind].lib, e->ret, t->result);
}

/* c: the communicator of the calls, or NULL. */
static void show(struct snoop *s, const struct communicator *c, const struct comm_calls *calls)
{
	static const struct communicator none;
	const struct nccl_event *e = calls->event;
	const struct cuda_fn *fn = &cuda_fns[e->head.kind];
	struct texts texts;
	struct snoop_row r = snoop_row(calls, c ?: &none, &texts);

	if (fn->class == CUDA_ASK || !wanted(s, &r, e) || is_done(s))
		return;
	s->printed++;
	r.call.stack = stack_get(s->session.syms, e->head.pid, e->stack, e->head.frames);
	if (call_lines_folded(&s->lines, &r.call, r.device,
			      (unsigned long long[PROFILE_VALUES]){ calls->n, calls->n * r.call.latency }))
		return;
	r.container = process_container(&s->session.processes, r.call.pid);
	r.result = result_of(calls, &texts);
	add_columns(s, &r);
	out_row(s->fields, &r);
}

/* Returns the sum of a function; NULL if there are too many. */
static struct function_sum *function_of(struct snoop *s, const struct nccl_event *e)
{
	struct function_sum *sum = s->functions;

	while (sum < s->functions + s->nfunctions && sum->event.head.kind != e->head.kind)
		sum++;
	if (sum == s->functions + FUNCTIONS)
		return NULL;
	if (sum < s->functions + s->nfunctions)
		return sum;
	s->nfunctions++;
	*sum = (struct function_sum){ .event = *e, .bytes = NO_VALUE };
	sum->event.handle = 0;
	sum->event.count = NO_VALUE;
	sum->event.other = -1;
	return sum;
}

static void add_kind(struct snoop *s, const struct comm_calls *calls)
{
	struct function_sum *sum = function_of(s, calls->event);

	if (!sum) {
		show(s, NULL, calls);
		return;
	}
	sum->n += calls->n;
	if (calls->bytes != NO_VALUE)
		sum->bytes = (sum->bytes == NO_VALUE ? 0 : sum->bytes) + calls->bytes;
	if (sum->event.type != calls->event->type)
		sum->event.type = DIFFERENT;
	if (sum->event.op != calls->event->op)
		sum->event.op = DIFFERENT;
}

/* A launch has few lines, whatever its graph has. */
static void on_calls(void *ctx, const struct communicator *c, const struct comm_calls *calls)
{
	struct snoop *s = ctx;

	if (calls->kinds <= KINDS) {
		show(s, c, calls);
		return;
	}
	if (calls->n)
		add_kind(s, calls);
	for (unsigned i = 0; !calls->left && i < s->nfunctions; i++) {
		const struct function_sum *sum = &s->functions[i];

		show(s, NULL, &(struct comm_calls){
			.event = &sum->event, .n = sum->n, .bytes = sum->bytes });
	}
	s->nfunctions = calls->left ? s->nfunctions : 0;
}

static void on_end(void *ctx, const struct process_event *e)
{
	struct snoop *s = ctx;

	communicators_ended(&s->communicators, e);
	captures_program_ended(&s->captures, e->program);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct snoop *s = ctx;

	communicators_record(&s->communicators, &s->captures, data, size, on_calls, s);
	return 0;
}

static void *open_skel(void *ctx)
{
	struct snoop *s = ctx;

	process_on_end(&s->session.processes, on_end, s);
	columns_of_calls(s->fields, all_fields, s->lines.times, s->lines.stacks);
	s->devices.several = s->session.devices;
	if (s->devices.several)
		columns_show(s->fields, "device", "DEVICE");
	s->skel = nccl_bpf__open();
	if (!s->skel)
		return NULL;
	s->skel->rodata->nccl_stacks = s->lines.stacks;
	s->session.probes.return_classes = NCCL_RETURN_CLASSES;
	return s->skel;
}

static void loaded(void *ctx)
{
	struct snoop *s = ctx;

	s->captures = (struct captures)CAPTURES_OF(s->skel);
	communicators_init(&s->communicators, &s->session.probes, session_is_alone(&s->session));
	s->communicators.least = s->min;
}

static void start(void *ctx)
{
	struct snoop *s = ctx;

	CALL_LINES_START(&s->lines, s->skel, s->lines.stacks);
	s->lines.inflight.devices = &s->devices;
}

static int finish(void *ctx, int status)
{
	struct snoop *s = ctx;

	communicators_warn(&s->communicators);
	return call_lines_close(&s->lines, status);
}

int main(int argc, char **argv)
{
	struct snoop snoop = {
		.lines = CALL_LINES_INIT(&snoop.session, &called), .session = SESSION_INIT,
		.events = { .record = on_record, .tick = tick, .ctx = &snoop },
	};
	const unsigned classes = NCCL_CLASSES;
	int status;
	const struct opt opts[] = {
		OPT_TARGET(&snoop.session),
		OPT_LINES_FAILED(&snoop.lines),
		OPT_DEVICE(&snoop.session),
		OPT_SIZE('m', "min", "SIZE", &snoop.min, "print only operations on at least SIZE"),
		OPT_LINES_SLOWER(&snoop.lines),
		OPT_NUM('n', "max-events", "N", &snoop.max, 1, "stop after N calls"),
		OPT_LINES_STACKS(&snoop.lines),
		OPT_LINES_FOLDED(&snoop.lines, "calls"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, TOOL_CALL_LINES(&snoop.lines), .events = &snoop.events, .fields = snoop.fields,
		.classes = &classes, .devices = true, .ctx = &snoop, .check = call_lines_check, .open = open_skel, .loaded = loaded,
		.start = start, .stop = call_lines_stop, .close = finish,
	};

	status = tool_run(&tool, argc, argv);
	communicators_free(&snoop.communicators);
	return status;
}
