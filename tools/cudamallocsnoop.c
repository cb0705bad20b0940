// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudamallocsnoop - print each CUDA allocation and free as it is made */
#include "abi/launch.h"
#include "api/cuda_err.h"
#include "cli/row.h"
#include "model/account.h"
#include "model/captures.h"
#include "model/memory.h"
#include "nvml/nvml.h"
#include "session/call_lines.h"
#include "session/tool.h"
#include "sym/syms.h"
#include "view/account_view.h"
#include "view/columns.h"
#include "view/stack_view.h"
#include "cudamallocsnoop.skel.h"

static const struct usage usage = {
	.args = "",
	.what = "Print each CUDA allocation and free: the process, the kind of memory, the size, the time\n"
		"taken, and the error if it failed.",
	.examples =
	"  cudamallocsnoop                     # everything, of all processes\n"
	"  cudamallocsnoop -p 181 -x -k        # failures, with call stacks\n"
	"  cudamallocsnoop -x --account        # failures, and what holds the memory\n"
	"  cudamallocsnoop -m 64m -T           # 64 MiB and more, with the time\n"
	"  cudamallocsnoop --device 0,1        # only memory of these devices\n"
	"  cudamallocsnoop -jc './train 10'    # one command, as JSON lines\n"
	"  cudamallocsnoop --folded -p 181 -d 10 >calls # flamegraph.pl --countname calls\n"
	"  cudamallocsnoop --pprof calls.pb.gz -c ./train # for go tool pprof\n",
};

static const struct profile_kind called = {
	.values = { { "calls", "count" }, { "time", "nanoseconds" }, { "allocated", "bytes" } },
};

struct snoop_row {
	struct call call;
	unsigned long long size, ptr, stream;
	unsigned int device;
	const char *container, *op, *memory, *result;
	bool complete, captured;
};

OUT_WORD(row_type, "call");

#define AT(f) offsetof(struct snoop_row, f)
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* a call */
	CALL_BEGIN_FIELDS,
	{ "container", NULL, -12, OUT_STR, AT(container) },
	{ "layer", NULL, 0, OUT_STR, AT(call.layer) },	/* runtime or driver; usdt: of --tensors */
	{ "func", "FUNCTION", -22, OUT_STR, AT(call.func) },
	{ "op", "OP", -5, OUT_STR, AT(op) },	/* alloc or free */
	{ "memory", "MEMORY", -7, OUT_STR, AT(memory) },	/* device, managed, host, array, pool, vmm, ipc or tensor */
	{ "device", NULL, 6, OUT_DEVICE, AT(device) },	/* of the memory; null if unknown or of the host */
	{ "stream", NULL, -14, OUT_STREAM, AT(stream) },	/* of the call */
	{ "size", "BYTES", 12, OUT_SIZE, AT(size) },	/* requested; of a free: of its allocation */
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },	/* false if size and memory of a free may be unknown */
	{ "ptr", "POINTER", -14, OUT_PTR, AT(ptr) },	/* address or handle */
	{ "latency_ns", "LAT(us)", 9, OUT_US, AT(call.latency) },	/* of the call */
	{ "captured", NULL, 0, OUT_BOOL, AT(captured) },	/* the call is part of a CUDA graph, and did not run */
	{ "ret", NULL, 0, OUT_INT, AT(call.ret) },	/* result; 0: success */
	CALL_END_FIELDS,
	{ 0 }
};

struct snoop {
	struct call_lines lines;	/* stacks: an option of call stacks was given; after check(): they are taken */
	bool allocs, frees, tensors, account;
	bool prints_stacks;
	unsigned classes;	/* of functions */
	long min;		/* bytes */
	long max, printed;	/* lines; max: 0 = no limit */
	struct memory memory;
	struct nvml nvml;	/* with account */
	struct captures captures;
	struct field fields[sizeof(all_fields) / sizeof(*all_fields)];	/* the columns */
	struct devices_seen devices;	/* several: with a column */
	struct session session;
	struct event_loop events;
	struct cudamallocsnoop_bpf *skel;
};

/* Returns the row of a call that had this effect, without stack, complete, container and result. */
static struct snoop_row snoop_row(const struct memory_event *e, const struct memory_effect *did)
{
	const struct cuda_fn *fn = &cuda_fns[e->head.kind];

	return (struct snoop_row){
		.call = CALL_OF(e, fn), .size = did->size, .ptr = e->ptr ? e->ptr : OUT_NONE,
		.stream = stream_of(fn, e->stream), .device = did->device,
		.op = fn->class == CUDA_ALLOC ? "alloc" : "free", .memory = memory_name(did->memory),
	};
}

/* A column that is first needed by this row is added, and the head printed again. */
static void add_columns(struct snoop *s, const struct snoop_row *r)
{
	bool stream = r->stream != OUT_NONE && r->stream != STREAM_LEGACY, more = false;

	devices_see(&s->devices, r->device);
	if (s->devices.several)
		more |= columns_show(s->fields, "device", "DEVICE");
	if (stream)
		more |= columns_show(s->fields, "stream", "STREAM");
	if (r->container)
		more |= columns_show(s->fields, "container", "CONTAINER");
	if (more)
		out_head(s->fields);
}

static bool wanted(const struct snoop *s, const struct cuda_fn *fn, const struct snoop_row *r)
{
	bool alloc = fn->class == CUDA_ALLOC;

	if (fn->class != CUDA_ALLOC && fn->class != CUDA_FREE && fn->class != CUDA_RESET)
		return false;
	if (fn->lib == CUDA_USDT && !s->tensors)
		return false;
	if (alloc ? s->frees : s->allocs)
		return false;
	if ((s->lines.failed && !r->call.ret) || (s->lines.slower && (r->call.latency == OUT_NONE || r->call.latency < (unsigned long)s->lines.slower)))
		return false;
	if (s->session.devices && !device_is_in(s->session.devices, r->device))
		return false;
	return !s->min || (r->size != OUT_NONE && r->size >= (unsigned long)s->min);
}

static bool is_done(const struct snoop *s)
{
	return s->max && s->printed >= s->max;
}

static bool tick(void *ctx)
{
	return !is_done(ctx);
}

static bool folded(struct snoop *s, const struct cuda_fn *fn, const struct snoop_row *r)
{
	const bool allocated = fn->class == CUDA_ALLOC && !r->call.ret && r->size != OUT_NONE;

	return call_lines_folded(&s->lines, &r->call, r->device, (unsigned long long[PROFILE_VALUES]){
		1, r->call.latency != OUT_NONE ? r->call.latency : 0, allocated ? r->size : 0,
	});
}

static const struct stack *stack_of(const struct snoop *s, const struct memory_event *e)
{
	return stack_get(s->session.syms, e->head.pid, e->stack, e->head.frames);
}

/* stack: NULL: not read yet */
static void show(struct snoop *s, const struct memory_event *e, const struct memory_effect *did, const struct stack *stack)
{
	const struct cuda_fn *fn = &cuda_fns[e->head.kind];
	struct snoop_row r = snoop_row(e, did);
	char number[CUDA_ERR_NUMBER];

	if (!wanted(s, fn, &r) || is_done(s))
		return;
	s->printed++;
	r.call.stack = stack ?: stack_of(s, e);
	if (folded(s, fn, &r))
		return;
	r.complete = process_is_complete(&s->session.processes, r.call.pid);
	r.container = process_container(&s->session.processes, r.call.pid);
	r.captured = e->captured;
	r.result = e->captured ? "captured" : cuda_err_text(fn->lib, e->ret, number);
	add_columns(s, &r);
	out_row(s->fields, &r);
}

/* With --device only part of the memory is counted: not comparable with NVML's total. */
static void show_account(struct snoop *s, const struct memory_event *e, const struct mem_process *process)
{
	const struct account_report r = {
		.time = e->time, .pid = process->pid, .comm = process->comm, .at = "failure", .process = process,
		.container = process_container(&s->session.processes, process->pid), .complete = !process->preexisting,
		.nvml = s->session.devices ? NULL : &s->nvml, .helpers = &s->session.helpers,
		.func = cuda_fns[e->head.kind].name, .size = e->size,
	};

	account_view(&r);
}

static void on_call(struct snoop *s, const struct memory_event *e)
{
	const struct stack *stack = s->account ? stack_of(s, e) : NULL;
	struct memory_effect did = memory_apply(&s->memory, e, stack);

	show(s, e, &did, stack);
	if (s->account && !is_done(s) && account_is_due(did.process, e))
		show_account(s, e, did.process);
}

static void on_end(void *ctx, const struct process_event *e)
{
	struct snoop *s = ctx;

	memory_ended(&s->memory, e);
	captures_program_ended(&s->captures, e->program);
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct memory_event *e = data;
	struct snoop *s = ctx;

	captures_record(&s->captures, &e->head);
	if (memory_event_is_right(data, size))
		on_call(s, e);
	return 0;
}

static void check(void *ctx)
{
	struct snoop *s = ctx;

	if (s->allocs && s->frees)
		usage_error("--allocs and --frees are mutually exclusive");
	call_lines_check(&s->lines);
	if (s->lines.folded && s->account)
		usage_error("--folded prints no calls; it cannot be combined with --account");
	s->session.needs_kernel = s->tensors || s->account;
	s->classes = MEMORY_CLASSES | CUDA_CAPTURES | (s->account ? ACCOUNT_CLASSES : 0);
	s->prints_stacks = s->lines.stacks;
	s->lines.stacks |= s->account;
}

static void *open_skel(void *ctx)
{
	struct snoop *s = ctx;

	process_on_end(&s->session.processes, on_end, s);
	columns_of_calls(s->fields, all_fields, s->lines.times, s->prints_stacks);
	s->memory.table = s->account ? &s->session.processes : NULL;
	s->devices.several = s->session.devices;
	if (s->devices.several)
		columns_show(s->fields, "device", "DEVICE");
	s->skel = cudamallocsnoop_bpf__open();
	if (!s->skel)
		return NULL;
	s->skel->rodata->memory_stacks = s->lines.stacks;
	s->skel->rodata->memory_stacks_all = s->prints_stacks;
	s->session.probes.usdt = s->skel->rodata->memory_tensors = s->tensors || (s->account && !s->session.inject);
	s->session.probes.return_classes = ~(1u << CUDA_EVENT);
	s->skel->rodata->memory_latencies = true;
	s->skel->rodata->memory_failures = true;
	s->skel->rodata->memory_failed_only = s->lines.failed && !s->account;
	s->skel->rodata->memory_min = s->account ? 0 : s->min;
	return s->skel;
}

static void loaded(void *ctx)
{
	struct snoop *s = ctx;

	s->captures = (struct captures)CAPTURES_OF(s->skel);
	if (s->account)
		nvml_start(&s->nvml, &s->session.helpers.helper, s->session.verbose);
}

static void start(void *ctx)
{
	struct snoop *s = ctx;

	CALL_LINES_START(&s->lines, s->skel, s->prints_stacks);
	s->lines.inflight.devices = &s->devices;
	s->lines.inflight.memory = &s->memory;
}

static int finish(void *ctx, int status)
{
	struct snoop *s = ctx;

	if (s->tensors)
		session_check_usdt(&s->session);
	if (s->account)
		nvml_close(&s->nvml);
	return call_lines_close(&s->lines, status);
}

int main(int argc, char **argv)
{
	struct snoop snoop = {
		.lines = CALL_LINES_INIT(&snoop.session, &called), .memory = MEMORY_INIT, .session = SESSION_INIT,
		.events = { .record = on_record, .tick = tick, .ctx = &snoop },
	};
	int status;
	const struct opt opts[] = {
		OPT_TARGET(&snoop.session),
		OPT_LINES_FAILED(&snoop.lines),
		OPT_DEVICE(&snoop.session),
		OPT_SIZE('m', "min", "SIZE", &snoop.min, "print only allocations of at least SIZE and their frees"),
		OPT_LINES_SLOWER(&snoop.lines),
		OPT_NUM('n', "max-events", "N", &snoop.max, 1, "stop after N calls"),
		OPT_FLAG('A', "allocs", &snoop.allocs, "print only allocations"),
		OPT_FLAG('F', "frees", &snoop.frees, "print only frees"),
		OPT_LINES_STACKS(&snoop.lines),
		OPT_FLAG(0, "tensors", &snoop.tensors, "also print allocations and frees of PyTorch's allocator"),
		OPT_FLAG(0, "account", &snoop.account, "when memory runs out, show which libraries hold how much"),
		OPT_LINES_FOLDED(&snoop.lines, "calls"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, TOOL_CALL_LINES(&snoop.lines), .events = &snoop.events, .fields = snoop.fields,
		.classes = &snoop.classes, .devices = true, .ctx = &snoop, .check = check, .open = open_skel, .loaded = loaded,
		.start = start, .stop = call_lines_stop, .close = finish,
	};

	status = tool_run(&tool, argc, argv);
	memory_free(&snoop.memory);
	return status;
}
