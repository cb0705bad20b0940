// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudamallocsnoop - print each CUDA allocation and free as it is made */
#include <errno.h>
#include <stdio.h>
#include "api/cuda_err.h"
#include "base/die.h"
#include "session/event_loop.h"
#include "model/memory.h"
#include "cli/out.h"
#include "sym/syms.h"
#include "session/target.h"
#include "cudamallocsnoop.skel.h"

static const struct usage usage = {
	.args = "",
	.what = "Print each CUDA allocation and free: who, what, how much, how long it took, and\n"
		"the error if it failed.",
	.examples =
	"  cudamallocsnoop                     # everything, of all processes\n"
	"  cudamallocsnoop -p 181 -x -k        # failures of one process, with call stacks\n"
	"  cudamallocsnoop -m 64m -T           # 64 MiB and more, with the time\n"
	"  cudamallocsnoop -jc './train 10'    # one command, as JSON lines\n",
};

struct row {
	unsigned long long time, size, ptr, latency;
	int pid, tid, ret;
	const char *comm, *layer, *func, *op, *memory, *result, *error;
	const struct stack *stack;
};

#define AT(f) offsetof(struct row, f)
static struct field fields[] = {
	{ "time", "TIME", -12, OUT_TIME, AT(time) },
	{ "pid", "PID", -7, OUT_INT, AT(pid) },
	{ "tid", NULL, 0, OUT_INT, AT(tid) },
	{ "comm", "COMM", -15, OUT_STR, AT(comm) },
	{ "layer", NULL, 0, OUT_STR, AT(layer) },
	{ "func", "FUNCTION", -22, OUT_STR, AT(func) },
	{ "op", "OP", -5, OUT_STR, AT(op) },
	{ "memory", "MEMORY", -7, OUT_STR, AT(memory) },
	{ "size", "BYTES", 12, OUT_UINT, AT(size) },
	{ "ptr", "POINTER", -14, OUT_PTR, AT(ptr) },
	{ "latency_ns", "LAT(us)", 9, OUT_US, AT(latency) },
	{ "ret", NULL, 0, OUT_INT, AT(ret) },
	{ "error", NULL, 0, OUT_STR, AT(error) },
	{ NULL, "RESULT", -1, OUT_STR, AT(result) },
	{ "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};
enum { TIME = 0, STACK = 14 };

struct snoop {
	bool failed, allocs, frees, times, stacks;
	long min;
};

static bool wanted(const struct snoop *s, const struct cuda_fn *fn, const struct row *r)
{
	bool alloc = fn->class == CUDA_ALLOC;

	if (fn->class == CUDA_MAP || fn->class == CUDA_UNMAP)
		return false;
	if (alloc ? s->frees : s->allocs)
		return false;
	if (s->failed && !r->ret)
		return false;
	return !s->min || (r->size != OUT_NONE && r->size >= (unsigned long)s->min);
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct memory_event *e = data;
	const struct cuda_fn *fn;
	struct memory_effect did;
	struct row r;
	char number[16];

	(void)size;
	if (record_is_process_event(data)) {
		memory_forget(memory_process(data));
		syms_forget(e->head.pid);
		return 0;
	}
	fn = &cuda_fns[e->head.kind];
	r = (struct row){
		.time = e->time, .ptr = e->ptr ? e->ptr : OUT_NONE, .latency = e->time - e->start,
		.pid = e->head.pid, .tid = e->tid, .ret = e->ret, .comm = e->comm,
		.stack = stack_get(e->head.pid, e->stack, e->head.frames),
	};
	did = memory_apply(e, r.stack);
	r.size = did.size;
	r.memory = memory_name(did.memory);
	if (!wanted(ctx, fn, &r))
		return 0;
	r.layer = cuda_lib_name(fn->lib);
	r.func = fn->name;
	r.op = fn->class == CUDA_ALLOC ? "alloc" : "free";
	snprintf(number, sizeof(number), "%d", e->ret);
	r.error = e->ret ? cuda_err_name(fn->lib, e->ret) : NULL;
	r.result = !e->ret ? "ok" : r.error ? r.error : number;
	out_row(fields, &r);
	return 0;
}

int main(int argc, char **argv)
{
	struct target target = TARGET_INIT;
	struct snoop snoop = {};
	const struct opt opts[] = {
		OPT_TARGET(&target),
		OPT_FLAG('x', "failed", &snoop.failed, "calls that failed only"),
		OPT_SIZE('m', "min", "SIZE", &snoop.min, "allocations of at least SIZE, and their frees"),
		OPT_FLAG('A', "allocs", &snoop.allocs, "allocations only"),
		OPT_FLAG('F', "frees", &snoop.frees, "frees only"),
		OPT_FLAG('T', "timestamp", &snoop.times, "a column with the time of day"),
		OPT_FLAG('k', "stack", &snoop.stacks, "user call stacks"),
		OPT_END
	};
	struct cudamallocsnoop_bpf *skel;
	struct event_loop events = { .record = on_record, .ctx = &snoop };
	int sig;

	opt_no_operands(argc, argv, opt_parse(argc, argv, opts, &usage));
	if (snoop.allocs && snoop.frees)
		usage_error("--allocs and --frees exclude each other");
	target_init(&target);
	fields[TIME].head = snoop.times ? "TIME" : NULL;
	if (snoop.stacks)
		syms_init();
	else
		fields[STACK].type = OUT_END;

	skel = cudamallocsnoop_bpf__open();
	if (!skel)
		die(errno, "cannot open the BPF programs");
	skel->rodata->memory_stacks = skel->rodata->memory_stacks_all = snoop.stacks;
	skel->rodata->memory_latencies = true;
	skel->rodata->memory_failures = true;
	skel->rodata->memory_failed_only = snoop.failed;
	skel->rodata->memory_min = snoop.min;
	target_prepare(&target, skel->obj);
	if (cudamallocsnoop_bpf__load(skel))
		die(errno, "cannot load the BPF programs");
	if (cudamallocsnoop_bpf__attach(skel))
		die(errno, "cannot attach to the ends of processes");
	target_attach(&target, MEMORY_CLASSES);

	out_head(fields);
	events.ring = skel->maps.events;
	events.lost = skel->bss->lost;
	sig = event_loop_run(&target, &events);
	sig = target_finish(&target, sig);
	event_loop_lost(&events);
	cudamallocsnoop_bpf__destroy(skel);
	return sig;
}
