// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudaleak - show what CUDA memory is allocated and not freed, by call stack */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include "die.h"
#include "escape.h"
#include "events.h"
#include "leak.h"
#include "out.h"
#include "syms.h"
#include "target.h"
#include "cudaleak.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show CUDA memory that is allocated and not freed, by process, kind of memory and call\n"
		"stack, largest first: every interval (5 seconds; with -c and --folded none), at the\n"
		"end, and for each process that exits what it never freed.",
	.examples =
	"  cudaleak -p 181                     # one process, every 5 seconds\n"
	"  cudaleak -c './train 10'            # what the command never freed\n"
	"  cudaleak -o 60000 -T 3 -p 181 30    # older than a minute, the 3 largest, every 30 s\n"
	"  cudaleak --folded -c ./train >leaks # for flamegraph.pl --countname bytes\n",
};

struct row {
	unsigned long long time, bytes, count, oldest, ptr, sample;
	int pid, tid;
	const char *comm, *at, *memory, *func;
	const struct stack *stack;
};

#define AT(f) offsetof(struct row, f)
enum { PTR = 8, TID, FUNC, SAMPLE, STACK };
static struct field fields[] = {	/* the text is show()'s */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "pid", NULL, 0, OUT_INT, AT(pid) },
	{ "comm", NULL, 0, OUT_STR, AT(comm) },
	{ "at", NULL, 0, OUT_STR, AT(at) },
	{ "memory", NULL, 0, OUT_STR, AT(memory) },
	{ "bytes", NULL, 0, OUT_UINT, AT(bytes) },
	{ "count", NULL, 0, OUT_UINT, AT(count) },
	{ "oldest_ns", NULL, 0, OUT_UINT, AT(oldest) },
	[PTR] = { "ptr", NULL, 0, OUT_PTR, AT(ptr) },
	[TID] = { "tid", NULL, 0, OUT_INT, AT(tid) },
	[FUNC] = { "func", NULL, 0, OUT_STR, AT(func) },
	[SAMPLE] = { "sample", NULL, 0, OUT_UINT, AT(sample) },
	[STACK] = { "stack", NULL, 0, OUT_STACK, AT(stack) },
	{ 0 }
};

static struct {
	struct leak_options options;
	long top, min, max;
	bool totals, folded;
	bool reported;		/* of a process that exited */
	unsigned long long allocs, frees;
} leak = { .options.sample = 1, .max = LONG_MAX };

static void show(const struct leak_group *g, const char *at)
{
	struct row r = {
		.time = leak.options.now, .bytes = g->bytes, .count = g->count, .ptr = g->ptr,
		.sample = leak.options.sample, .pid = g->holder->pid, .tid = g->tid,
		.comm = g->holder->comm, .at = at, .memory = memory_name(g->memory),
		.func = cuda_fns[g->id].name, .stack = g->stack,
	};

	r.oldest = r.time - g->oldest;
	if (leak.folded) {
		escape_text(stdout, r.comm);
		putchar(';');
		stack_folded(r.stack);
		printf(";[%s] %llu\n", r.memory, r.bytes);
	} else if (out_is_json()) {
		out_row(fields, &r);
	} else if (leak.options.each) {
		printf("    %llu bytes of %s memory at 0x%llx, %s old, by %s in thread %d\n", r.bytes,
		       r.memory, r.ptr, out_ns(r.oldest), r.func, r.tid);
	} else {
		printf("    %llu bytes in %llu allocation%s of %s memory, oldest %s\n", r.bytes,
		       r.count, r.count == 1 ? "" : "s", r.memory, out_ns(r.oldest));
	}
	if (!leak.folded && !out_is_json() && !leak.totals)
		stack_text(r.stack);
	out_line_end();
}

static void doubt(const struct holder *h, const char *at, const char *key, const char *text,
		  unsigned long long n)
{
	if (!n || leak.folded)
		return;
	if (out_is_json())
		printf("{\"pid\":%d,\"at\":\"%s\",\"%s\":%llu}\n", h->pid, at, key, n);
	else
		printf("    %llu %s\n", n, text);
}

/* What one process holds. */
static void report_holder(const struct holder *h, const char *at)
{
	unsigned long long bytes = 0, count = 0;
	struct leak_group *g;
	size_t n, i;

	g = leak_groups(h, &leak.options, &n);
	for (i = 0; i < n; i++) {
		bytes += g[i].bytes;
		count += g[i].count;
	}
	if (!out_is_json() && !leak.folded) {
		printf("[%s] pid %d (", out_clock(), h->pid);
		escape_text(stdout, h->comm);
		printf(")%s: %llu allocation%s not freed, %s", *at == 'e' ? " at its exit" : "", count,
		       count == 1 ? "" : "s", out_bytes(bytes));
		if (leak.options.sample > 1)
			printf(" (estimated from 1 in %ld)", leak.options.sample);
		putchar('\n');
	}
	for (i = 0; i < n && i < (size_t)leak.top; i++)
		show(&g[i], at);
	if (i < n && !out_is_json())
		printf("    ... and %zu more%s\n", n - i, leak.options.each ? "" : " groups");
	free(g);
	if (!leak.min && leak.max == LONG_MAX && leak.options.sample == 1)
		doubt(h, at, "unknown_frees", "frees of memory that was not seen allocated "
		      "(before tracing began)", h->unknown);
	doubt(h, at, "unseen_frees", "allocations whose address came again without a free: counted as "
	      "freed", h->replaced);
	doubt(h, at, "unsure", "of these may be gone with a context or device that was reset", h->unsure);
}

static void report(void *ctx)
{
	const struct holder *h;
	bool any = false;

	(void)ctx;
	leak.options.now = leak_now();
	for (h = memory_holders; h; h = h->hh.next) {
		if (!h->live && !h->unknown)
			continue;
		report_holder(h, "interval");
		any = true;
	}
	if (!any && !out_is_json() && !leak.folded)
		printf("[%s] nothing held: %llu allocations and %llu frees %s\n", out_clock(),
		       leak.allocs, leak.frees, leak.options.sample > 1 ? "recorded" : "seen");
}

static int on_record(void *ctx, void *data, size_t size)
{
	const struct memory_event *e = data;
	struct memory_effect did = memory_apply(e, stack_get(e->pid, e->stack, e->frames));

	(void)ctx, (void)size;
	if (e->id < CUDA_ID_MAX) {
		leak.allocs += cuda_fns[e->id].class == CUDA_ALLOC;
		leak.frees += cuda_fns[e->id].class == CUDA_FREE;
		return 0;
	}
	leak.options.now = e->time;
	report_holder(did.holder, "exit");
	leak.reported = true;
	memory_forget(did.holder);
	syms_forget(e->pid);
	return 0;
}

int main(int argc, char **argv)
{
	struct events events = { .record = on_record, .report = report, .interval = -1 };
	struct target target = TARGET_INIT;
	const struct opt opts[] = {
		OPT_TARGET(&target),
		OPT_FLAG('a', "each", &leak.options.each, "each allocation, not groups by stack"),
		OPT_NUM('o', "older", "MS", &leak.options.older_ms, 0, "only what is older than this"),
		OPT_SIZE('z', "min-size", "SIZE", &leak.min, "only allocations of at least SIZE"),
		OPT_SIZE('Z', "max-size", "SIZE", &leak.max, "only allocations of at most SIZE"),
		OPT_NUM('T', "top", "N", &leak.top, 1, "the N largest; default: 10, with -a and --folded all"),
		OPT_FLAG('C', "totals", &leak.totals, "totals without call stacks: costs less"),
		OPT_NUM('s', "sample", "N", &leak.options.sample, 1, "record one allocation in N, estimate the rest"),
		OPT_FLAG(0, "folded", &leak.folded, "stacks on one line, for flame graphs, at the end"),
		OPT_END
	};
	struct cudaleak_bpf *skel;
	int status;

	opt_interval(argc, argv, opt_parse(argc, argv, opts, &usage), &events.interval, &events.count);
	if (leak.folded && (target.json || leak.totals))
		opt_bad("--folded excludes --json and --totals");
	if (leak.min > leak.max)
		opt_bad("--min-size is larger than --max-size");
	if (!leak.top)
		leak.top = leak.options.each || leak.folded ? LONG_MAX : 10;
	if (events.interval < 0)
		events.interval = target.command || leak.folded ? 0 : 5;
	target_init(&target);
	fields[PTR].key = leak.options.each ? "ptr" : NULL;
	fields[TID].key = leak.options.each ? "tid" : NULL;
	fields[FUNC].key = leak.options.each ? "func" : NULL;
	fields[SAMPLE].key = leak.options.sample > 1 ? "sample" : NULL;
	fields[STACK].key = leak.totals ? NULL : "stack";
	if (!leak.totals)
		syms_init();

	skel = cudaleak_bpf__open();
	if (!skel)
		die(errno, "cannot open the BPF programs");
	skel->rodata->memory_stacks = !leak.totals;
	skel->rodata->memory_min = leak.min;
	skel->rodata->memory_max = leak.max;
	skel->rodata->memory_sample = leak.options.sample;
	target_prepare(&target, skel->obj);
	if (cudaleak_bpf__load(skel))
		die(errno, "cannot load the BPF programs");
	if (cudaleak_bpf__attach(skel))
		die(errno, "cannot attach to the ends of processes");
	target_attach(&target, MEMORY_CLASSES);

	events.ring = skel->maps.events;
	events.lost = skel->bss->lost;
	status = events_run(&target, &events);
	if (!events.counted_out && (memory_holders || !leak.reported))
		report(NULL);
	status = target_finish(&target, status);
	events_lost(&events);
	cudaleak_bpf__destroy(skel);
	return status;
}
