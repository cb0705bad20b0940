// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudatop - show the processes that use CUDA: what they hold, launch, copy and wait for */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include "abi/launch.h"
#include "abi/memory_event.h"
#include "abi/nccl_event.h"
#include "base/clock.h"
#include "base/die.h"
#include "base/escape.h"
#include "bpf/bpf_mmap.h"
#include "cli/out.h"
#include "cli/row.h"
#include "cli/value.h"
#include "cudatop/top_account.h"
#include "cudatop/detail.h"
#include "cudatop/gpu_rows.h"
#include "cudatop/hints.h"
#include "cudatop/rows.h"
#include "cudatop/samples.h"
#include "cudatop/spark.h"
#include "model/captures.h"
#include "model/launches.h"
#include "budget/probe_budget.h"
#include "session/live.h"
#include "probe/probe_source.h"
#include "session/tool.h"
#include "sym/syms.h"
#include "view/columns.h"
#include "export.skel.h"

static const struct usage usage = {
	.args = "[interval [count]]",
	.what = "Show the processes that use CUDA: the memory they hold and its growth, launches, copies, waits\n"
		"and errors per second, and their longest call in flight.  On a terminal live in place, every\n"
		"interval (1 second); otherwise in blocks, every interval and at the end.",
	.examples =
	"  cudatop                  # every process, live\n"
	"  cudatop -s wait          # those that wait for the GPU the most first\n"
	"  cudatop --once           # one block, of one second\n"
	"  cudatop --tree --filter python # processes of Python, below their parents\n"
	"  cudatop -j 5 12          # as JSON, every 5 seconds, 12 times\n"
	"  cudatop -m 4711          # of what the memory of process 4711 consists\n"
	"  cudatop --gpu-time -bc ./train # also its time on the GPU\n",
};

OUT_WORD(row_type, "process");

/* Returns how many bytes of a text take so many columns at most. */
static size_t bytes_of(const char *s, int columns)
{
	size_t n = 0;

	while (s[n] && columns > 0) {
		bool keep = true;
		const int bytes = escape_next(s + n, &keep), wide = (unsigned char)s[n] >= 0x80;
		const int most = wide ? bytes : bytes < columns ? bytes : columns;

		columns -= !keep ? 4 * bytes : wide ? 1 : most;
		n += columns < 0 ? 0 : most;
	}
	return n;
}

/* char[], cut to the column's width. */
static int cut_text(FILE *f, const struct field *field, const void *at)
{
	char cut[sizeof(((struct top_row *)0)->comm_text)];

	snprintf(cut, sizeof(cut), "%.*s", (int)bytes_of(at, abs(field->width)), (const char *)at);
	return field_chars.text(f, field, cut);
}

static const struct field_type field_cut = { cut_text, NULL, NULL };

#define AT(f) offsetof(struct top_row, f)
static const struct field all_fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* a process that uses CUDA, with what it did in the interval */
	{ "time", NULL, 0, OUT_TIME, AT(time) },
	{ "interval_s", NULL, 0, OUT_REAL, AT(interval) },	/* s: length of the interval */
	{ "pid", "PID", -7, OUT_INT, AT(pid) },
	{ "user", "USER", -8, OUT_CHARS, AT(user) },	/* that the process runs as */
	{ "parent", NULL, 0, OUT_UINT, AT(parent) },	/* with --tree: pid of its nearest ancestor that has a row; null if there is none */
	{ "comm", NULL, 0, OUT_CHARS, AT(comm) },	/* name of its main thread */
	{ "command", NULL, 0, OUT_CHARS, AT(command) },	/* its command line, from the name of the program or script on, the first 159 bytes; null if unknown */
	{ NULL, "COMMAND", -15, &field_cut, AT(comm_text) },
	{ NULL, "COMM", -15, &field_cut, AT(comm_text) },	/* with names */
	{ "container", NULL, -12, OUT_CHARS, AT(container) },
	{ "complete", NULL, 0, OUT_BOOL, AT(complete) },
	{ NULL, "GPU", -4, OUT_CHARS, AT(device) },
	{ "devices", NULL, 0, OUT_DEVICES, AT(devices) },	/* on which it has launched, holds memory or, as NVML reports, has a context, as it numbers them */
	{ NULL, "MEMORY", 9, OUT_CHARS, AT(held_text) },
	{ "held", NULL, 0, OUT_UINT, AT(held) },	/* bytes: of memory on devices that it has allocated since tracing began, and not freed */
	{ NULL, "GROWTH/S", 10, OUT_CHARS, AT(growth_text) },
	{ "growth_per_s", NULL, 0, OUT_REAL, AT(growth_rate) },	/* bytes: of held, a second */
	{ NULL, "PINNED", 9, OUT_CHARS, AT(host_text) },
	{ "host_held", NULL, 0, OUT_UINT, AT(host) },	/* bytes: of pinned memory of the host */
	{ "managed_held", NULL, 0, OUT_UINT, AT(managed) },	/* bytes: of held, managed memory */
	{ NULL, "USED", 9, OUT_CHARS, AT(used_text) },
	{ "used", NULL, 0, OUT_UINT, AT(used) },	/* bytes: that NVML reports, on all GPUs; null if it does not */
	{ "used_by_gpu", NULL, 0, OUT_PRINT, AT(by_gpu) },	/* object: bytes: of used, by the number that NVML has for a GPU */
	{ NULL, "LAUNCH/S", 8, OUT_CHARS, AT(launch_text) },
	{ "launches", NULL, 0, OUT_UINT, AT(launches) },	/* of kernels and graphs in the interval */
	{ "launches_estimated", NULL, 0, OUT_UINT, AT(estimated) },	/* of launches: not seen, but estimated from samples, with --max-overhead */
	{ "graph_launches", NULL, 0, OUT_UINT, AT(graphs) },	/* of launches: of CUDA graphs */
	{ "launches_per_s", NULL, 0, OUT_REAL, AT(launch_rate) },	/* in the interval */
	{ "copies", NULL, 0, OUT_UINT, AT(copies) },	/* in the interval */
	{ "copied", NULL, 0, OUT_UINT, AT(bytes) },	/* bytes: of these copies */
	{ NULL, "COPY/S", 9, OUT_CHARS, AT(copy_text) },
	{ NULL, "HtoD/S", 9, OUT_CHARS, AT(htod_text) },
	{ "htod", NULL, 0, OUT_UINT, AT(htod) },	/* bytes: copied to devices in the interval */
	{ NULL, "DtoH/S", 9, OUT_CHARS, AT(dtoh_text) },
	{ "dtoh", NULL, 0, OUT_UINT, AT(dtoh) },	/* bytes: copied from devices in the interval */
	{ NULL, "%WAIT", 6, OUT_CHARS, AT(wait_text) },
	{ "wait_ns", NULL, 0, OUT_UINT, AT(wait_ns) },	/* that its threads waited for the GPU in the interval, in functions that synchronize */
	{ "wait_share", NULL, 0, OUT_REAL, AT(wait_share) },	/* of the interval; more than 1 if several threads waited */
	{ NULL, "%CUDA", 6, OUT_CHARS, AT(cuda_text) },
	{ "cuda_ns", NULL, 0, OUT_UINT, AT(cuda_ns) },	/* of its threads in other calls of CUDA, in the interval: no waits, and no loads of code */
	{ "cuda_share", NULL, 0, OUT_REAL, AT(cuda_share) },	/* of the interval; more than 1 if several threads were in calls */
	{ "busiest", NULL, 0, OUT_STR, AT(busiest) },	/* of these calls: the function that took most time; null if there was none */
	{ "busiest_ns", NULL, 0, OUT_UINT, AT(busiest_ns) },	/* of cuda_ns: in that function */
	{ NULL, "%JIT", 6, OUT_CHARS, AT(load_text) },
	{ "code_loads", NULL, 0, OUT_UINT, AT(loads) },	/* calls that load, compile or link code, or look up kernels, in the interval */
	{ "code_load_ns", NULL, 0, OUT_UINT, AT(load_ns) },	/* of these calls, in the interval */
	{ "code_load_share", NULL, 0, OUT_REAL, AT(load_share) },	/* of the interval; more than 1 if several threads loaded code */
	{ NULL, "ERR/S", 6, OUT_CHARS, AT(error_text) },
	{ "errors", NULL, 0, OUT_UINT, AT(errors) },	/* calls that returned an error, in the interval */
	{ NULL, "%GPU", 6, OUT_CHARS, AT(gpu_text) },
	{ "gpu_ns", NULL, 0, OUT_UINT, AT(gpu_ns) },	/* with --gpu-time: time of kernels, graphs and copies on the GPU; null if not measured */
	{ "gpu_share", NULL, 0, OUT_REAL, AT(gpu_share) },	/* with --gpu-time: of the interval; more than 1 if they ran beside each other */
	{ NULL, "RANK", -9, OUT_CHARS, AT(rank_text) },
	{ "rank", NULL, 0, OUT_UINT, AT(rank) },	/* in its largest communicator of NCCL; null if there is none */
	{ "nranks", NULL, 0, OUT_UINT, AT(nranks) },	/* of that communicator */
	{ "behind", NULL, 0, OUT_UINT, AT(behind) },	/* collectives that another rank has begun and this one has not; null if unknown */
	{ "calls_in_flight", NULL, 0, OUT_UINT, AT(calls) },	/* calls that have not returned */
	{ NULL, "HINT", -9, OUT_STR, AT(hint) },
	{ "hint", NULL, 0, OUT_STR, AT(hint) },	/* what explains most of its time or memory, - if nothing does */
	{ "hint_evidence", NULL, 0, OUT_CHARS, AT(evidence) },	/* what was measured of that; null without a hint */
	{ "hint_command", NULL, 0, OUT_CHARS, AT(next) },	/* the command that shows the lines of code; null without a hint */
	{ NULL, "CALL", -1, OUT_CHARS, AT(call_text) },
	{ "call", NULL, 0, OUT_STR, AT(call) },	/* the longest call in flight, of 100 ms or more; null if there is none */
	{ "call_ns", NULL, 0, OUT_UINT, AT(call_ns) },	/* how long it has not returned; null if there is none */
	{ "call_tid", NULL, 0, OUT_UINT, AT(call_tid) },	/* its thread; null if there is none */
	{ 0 }
};

/* The tick while no record arrives, ms; with --gpu-time: a program has room for 65,536 records, and launches are none of ours. */
enum { CALM_MS = 250, CALM_GPU_MS = 50, SOON_MS = 10 };	/* SOON_MS: while --max-overhead attaches or detaches */

enum { FIELDS = sizeof(all_fields) / sizeof(*all_fields) };

/* Columns that the last one must have for the table to have all of its own; of the history. */
enum { LAST = 12, HISTORY = 60, TEXT_ROWS = 40 };

/* Every program loads code and calls CUDA: from this share of an interval on it is worth a column. */
static const double LOADS_SHARE = .01, CUDA_SHARE = .01;

struct top {
	struct top_rows rows;
	struct gpu_time gpu;
	struct captures captures;
	struct top_samples samples;
	struct detail_view detail;
	struct spark launches;	/* per second */
	struct top_gpus gpus;
	unsigned long long lost;	/* records, so far */
	long max_rows;
	const char *filter;
	bool batch, once, gpu_time, first;
	bool sampling;		/* running threads are sampled */
	bool kernels;		/* launches are counted by kernel, which only the screen shows */
	bool containers, ranks, used, loads, calls;	/* some process has such a column */
	const char *sample, *max_overhead, *account;	/* account: of -m */
	double overhead;		/* a share of a core; 0: no limit */
	struct probe_budget budget;
	char *who;
	struct field wide[FIELDS], middle[FIELDS], narrow[FIELDS];
	struct top_view screen;
	struct live_table live;
	unsigned classes;
	struct probe_source source;
	struct session session;
	struct event_loop events;
	struct export_bpf *skel;
};

/* ---- Columns */

static void hide(struct field *fields, const char *head)
{
	for (struct field *f = fields; f->type; f++)
		if (f->head && !strcmp(f->head, head))
			f->head = NULL;
}

static void set_width(struct field *fields, const char *head, int width)
{
	for (struct field *f = fields; f->type; f++)
		if (f->head && !strcmp(f->head, head))
			f->width = width;
}

/* Columns that only some processes need come when one does; a terminal of 80 columns shows those up to HINT. */
static void choose_columns(struct top *t)
{
	static const char *const narrow[] = { "USER", "PINNED", "%CUDA", "%JIT", "HtoD/S", "DtoH/S", "ERR/S", NULL };
	struct top_rows *rows = &t->rows;

	for (size_t i = 0; i < rows->n; i++) {
		t->containers |= *rows->rows[i].container;
		t->ranks |= rows->rows[i].nranks != OUT_NONE;
		t->used |= rows->rows[i].used != OUT_NONE;
		t->calls |= rows->rows[i].cuda_share >= CUDA_SHARE;
		t->loads |= rows->rows[i].load_share >= LOADS_SHARE;
	}
	memcpy(t->wide, all_fields, sizeof(all_fields));
	hide(t->wide, t->rows.names ? "COMMAND" : "COMM");
	if (t->containers)
		columns_show(t->wide, "container", "CONTAINER");
	if (!t->used)
		hide(t->wide, "USED");
	if (!t->ranks)
		hide(t->wide, "RANK");
	if (!t->loads)
		hide(t->wide, "%JIT");
	if (!t->calls)
		hide(t->wide, "%CUDA");
	if (!t->rows.tree)
		columns_remove(t->wide, "parent");
	if (!t->gpu_time) {
		hide(t->wide, "%GPU");
		columns_remove(t->wide, "gpu_ns");
		columns_remove(t->wide, "gpu_share");
	}
	memcpy(t->narrow, t->wide, sizeof(t->wide));
	set_width(t->narrow, t->rows.names ? "COMM" : "COMMAND", -10);
	for (const char *const *head = narrow; *head; head++)
		hide(t->narrow, *head);
	hide(t->narrow, "CONTAINER");
	if (t->gpu_time)
		hide(t->narrow, "COPY/S");
	hide(t->wide, "COPY/S");
	memcpy(t->middle, t->wide, sizeof(t->wide));
	hide(t->middle, "PINNED");
	hide(t->middle, "CONTAINER");
}

/* ---- Text and JSON */

/* Text that a filter is compared with: a narrow terminal has not all of it. */
static void words(void *ctx, FILE *f, size_t i)
{
	const struct top *t = ctx;
	const struct top_row *r = &t->rows.rows[i];

	fprintf(f, "%d %s %s %s %s %s %s", r->pid, r->user, r->comm, t->rows.names ? "" : r->command, r->container, r->hint, r->call ?: "");
}

static void drop_filtered(struct top *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->rows.n; i++)
		if (top_view_has(&t->screen, i))
			t->rows.rows[n++] = t->rows.rows[i];
	t->rows.n = n;
}

static void print(void *ctx)
{
	struct top *t = ctx;

	drop_filtered(t);
	out_block(&(struct out_block){
		.fields = t->wide, .rows = t->rows.rows, .size = sizeof(*t->rows.rows), .n = t->rows.n, .max = t->max_rows, .text_rows = TEXT_ROWS,
	}, &t->first);
}

/* ---- The screen */

static void title(void *ctx, FILE *f)
{
	const struct top *t = ctx;
	const struct top_row *sum = &t->rows.sum;

	fprintf(f, "%zu process%s, %s, %.0f launches/s, %s copied", t->rows.n, t->rows.n == 1 ? "" : "es", out_bytes(sum->held), sum->launch_rate,
		out_amount((unsigned long long)sum->copy_rate, OUT_UNIT_BYTES_PER_S));
}

static void above(void *ctx, FILE *f, size_t i)
{
	const struct top *t = ctx;
	const int columns = screen_columns();

	if (i) {
		top_gpus_print(&t->gpus, f, i - 1, t->screen.nabove - 1, columns);
		return;
	}
	fputs("launches/s ", f);
	spark_print(f, &t->launches, columns < HISTORY ? columns : HISTORY, 0);
}

/* Rows get half of the screen at least. */
static size_t lines_above(const struct top *t)
{
	const int half = screen_lines() / 2;

	return half < 3 ? half > 1 : 1 + top_gpus_lines(&t->gpus, half - 2);
}

static bool fits(const struct field *fields)
{
	size_t size;
	char *buf;
	FILE *f = top_view_line(&buf, &size);

	out_text_head(f, fields);
	fclose(f);
	free(buf);
	return size + LAST <= (size_t)screen_columns() + strlen("CALL");
}

static const struct field *fields_now(const struct top *t)
{
	return fits(t->wide) ? t->wide : fits(t->middle) ? t->middle : t->narrow;
}

static void head(void *ctx, FILE *f)
{
	const struct top *t = ctx;
	const int pid = t->rows.processes.detail.pid;
	const struct top_row *r = pid ? top_row_find(&t->rows, pid) : NULL;

	if (!pid) {
		out_text_head(f, fields_now(t));
		return;
	}
	fprintf(f, "pid %d", pid);
	if (r) {
		fputs(" (", f);
		escape_text(f, *r->command && !t->rows.names ? r->command : r->comm);
		fprintf(f, ") of %s", r->user);
	}
	if (r && *r->container)
		fprintf(f, " in container %s", r->container);
}

static void line(void *ctx, FILE *f, size_t i)
{
	const struct top *t = ctx;

	if (t->rows.processes.detail.pid)
		fputs(t->detail.lines[i], f);
	else
		out_text(f, fields_now(t), &t->rows.rows[i]);
}

static void draw(void *ctx)
{
	struct top *t = ctx;
	const bool detail = t->rows.processes.detail.pid;
	const size_t n = t->max_rows && (size_t)t->max_rows < t->rows.n ? (size_t)t->max_rows : t->rows.n;

	if (!detail)
		top_rows_sort(&t->rows);
	t->screen.selects = !detail;
	t->screen.page = detail;
	t->screen.nabove = detail ? 0 : lines_above(t);
	top_view_draw(&t->screen, detail ? t->detail.n : n);
}

static void gather(void *ctx, bool whole)
{
	struct top *t = ctx;
	const unsigned long long *lost = t->events.lost;

	if (lost[LOST_RECORD] != t->lost)
		communicators_lost(&t->rows.communicators);
	t->lost = lost[LOST_RECORD];
	top_rows_gather(&t->rows, whole);
	for (size_t i = 0; i < t->rows.n; i++)
		top_hint_set(&t->rows.rows[i]);
	spark_add(&t->launches, t->rows.sum.launch_rate);
	top_gpus_add(&t->gpus, &t->rows);
	choose_columns(t);
	if (t->rows.processes.detail.pid)
		detail_set(&t->detail, &t->rows);
}

static void next(void *ctx)
{
	struct top *t = ctx;

	inflight_clear(&t->rows.inflight);
	top_rows_interval(&t->rows);
}

/* Reads the selected process's counts now, which ends the interval. */
static void choose(struct top *t, int pid)
{
	t->rows.processes.detail.pid = pid;
	t->screen.scroll = 0;
	if (!pid)
		return;
	gather(t, false);
	next(t);
}

static void press(void *ctx, int key)
{
	static const char keys[] = "MGLCWEOPU";	/* in the order of enum top_sort */
	struct top *t = ctx;
	const int sort = top_view_index(keys, key);
	const long row = t->screen.marked;
	const bool detail = t->rows.processes.detail.pid;

	if (key == SCREEN_ENTER && !detail && row >= 0 && row < (long)t->rows.n)
		choose(t, t->rows.rows[row].pid);
	else if (detail && (key == SCREEN_ESCAPE || key == SCREEN_BACKSPACE || key == SCREEN_ENTER))
		choose(t, 0);
	if (sort >= 0)
		t->rows.sort = sort;
	if (key == 's')
		t->rows.sort = (t->rows.sort + 1) % TOP_SORTS;
	t->rows.reverse ^= key == 'r';
	if (key == 't' || key == SCREEN_TREE)
		top_rows_set_tree(&t->rows, !t->rows.tree);
}

static void open_screen(struct top *t)
{
	static const char *const help[] = {
		"  Enter  the process with the mark: the next commands, calls in flight, memory",
		"  Escape, Enter  back to the processes",
		"  M memory  G growth  L launches  C copies  W waits  E errors  O call  P pid",
		"         sort by this; s: by the next one; r: reverse the order",
		"  t, F5  children below their parents",
		NULL
	};

	t->screen = (struct top_view){
		.who = t->who, .help = help, .ctx = t, .draw = draw, .key = press, .title = title, .head = head, .line = line, .words = words,
		.above = above,
	};
	if (t->filter)
		strcpy(t->screen.filter, t->filter);
	live_start(&t->session, &t->events, t->batch || t->once);
}

/* ---- The tool's hooks */

static void report(void *ctx)
{
	const struct top *t = ctx;

	live_report(&t->live);
}

static bool tick(void *ctx)
{
	struct top *t = ctx;

	if (t->gpu_time)
		gpu_time_tick(&t->gpu);
	if (t->kernels)
		launches_tick(t->rows.launches);
	probe_budget_tick(&t->budget);
	t->events.calm_ms = t->budget.soon ? SOON_MS : t->gpu_time ? CALM_GPU_MS : CALM_MS;
	return live_tick(&t->screen);
}

static void on_end(void *ctx, const struct process_event *e)
{
	struct top *t = ctx;

	communicators_ended(&t->rows.communicators, e);
	captures_program_ended(&t->captures, e->program);
	probe_budget_ended(&t->budget, e->head.pid);
	if (e->head.kind == RECORD_EXIT)
		top_samples_ended(&t->samples, e->head.pid);
}

static void first_call(struct top *t, const struct export_seen *seen)
{
	top_process_seen(&t->rows.processes, seen);
	probe_budget_seen(&t->budget, seen->head.pid);
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct top *t = ctx;
	const struct record *r = data;

	communicators_record(&t->rows.communicators, &t->captures, data, size, NULL, NULL);
	if (t->kernels && (launch_is_record(r) || r->kind == RECORD_FORK))
		launches_record(t->rows.launches, data, size);
	if (top_samples_record(&t->samples, data, size))
		return 0;
	if (r->kind == EXPORT_SEEN && size >= sizeof(struct export_seen))
		first_call(t, data);
	else if (memory_event_is_right(data, size))
		memory_apply(&t->rows.memory, data, NULL);
	return 0;
}

static void on_process(void *ctx, int pid)
{
	struct top *t = ctx;

	if (!filter_wants(&t->session.selected, pid))
		return;
	top_process_mapped(&t->rows.processes, pid);
	top_samples_process(&t->samples, pid);
}

static void check(void *ctx)
{
	struct top *t = ctx;

	t->kernels = live_is_wanted(&t->session, t->batch || t->once);
	t->classes |= t->kernels ? 1 << CUDA_NAME : 0;
	if (t->sample && !t->gpu_time)
		usage_error("--sample requires --gpu-time");
	if (t->filter && strlen(t->filter) >= TOP_FILTER)
		usage_error("--filter: '%s' is longer than %d bytes", t->filter, TOP_FILTER - 1);
	if (t->once && t->events.interval_ns)
		usage_error("--once cannot be combined with an interval");
	if (t->once) {
		t->events.interval_ns = VALUE_S;
		t->events.count = 1;
	}
	if (t->account && (t->gpu_time || t->max_rows || t->rows.sort))
		usage_error("--memory cannot be combined with --gpu-time, --rows or --sort");
	if (t->account)
		account_run(&t->session, &t->events, t->account);
	t->gpu.want = GPUTIME_KERNELS | GPUTIME_COPIES;
	if (t->sample)
		gpu_time_sample(&t->gpu, t->sample);
	t->session.probes.return_classes = NCCL_RETURN_CLASSES;
	t->session.probes.errors = true;
	t->source = cuda_error_source();
	if (!value_percent(t->max_overhead, &t->overhead))
		usage_error("--max-overhead %s: expected a percentage of a core, as 1%%, or off", t->max_overhead);
}

/* The kernel takes the samples. */
static void prepare(void *ctx)
{
	struct top *t = ctx;

	t->sampling = !t->session.inject && cpu_samples_can();
}

static void *open_skel(void *ctx)
{
	struct top *t = ctx;

	t->skel = export_bpf__open();
	if (!t->skel)
		return NULL;
	t->skel->rodata->export_nccl = true;
	t->skel->rodata->export_all_errors = true;
	t->skel->rodata->export_kernels = t->kernels;
	t->skel->rodata->export_calls = true;
	bpf_program__set_autoload(t->skel->progs.call_sample, t->sampling);
	if (t->sampling)
		bpf_map__set_max_entries(t->skel->maps.call_sample_rooms, libbpf_num_possible_cpus());
	else
		bpf_map__set_max_entries(t->skel->maps.call_code, 1);
	t->session.probes.outermost_classes = t->kernels ? 0 : 1 << CUDA_LAUNCH;
	bpf_program__set_autoload(t->skel->progs.process_fork, t->kernels);
	t->skel->rodata->overhead_wanted = probe_budget_wanted(&t->session.probes, &t->overhead);
	bpf_program__set_autoload(t->skel->progs.export_switch, false);
	bpf_map__set_max_entries(t->skel->maps.exemplars, 1);
	bpf_mmap_per_cpu(t->skel->maps.export_slots, EXPORT_SLOTS);
	if (t->kernels) {
		bpf_mmap_per_cpu(t->skel->maps.quick, LAUNCH_SLOTS);
		session_need_syms(&t->session);
	} else {
		bpf_map__set_max_entries(t->skel->maps.counts, 1);
		bpf_map__set_max_entries(t->skel->maps.quick, 1);
	}
	return t->skel;
}

static void open_samples(struct top *t)
{
	t->samples = (struct top_samples){
		.syms = t->session.syms, .helpers = &t->session.helpers, .processes = &t->rows.processes,
		.code = t->skel->maps.call_code,
	};
	top_samples_begin(&t->samples, t->skel->progs.call_sample);
}

static void open_kernels(struct top *t)
{
	struct top_rows *rows = &t->rows;

	rows->launches = launches_new(t->session.syms, t->skel->maps.counts, t->skel->maps.quick, &t->skel->bss->counts_shares, false);
	rows->launches->captures = t->captures;
	t->session.reads_at_exec = true;
	process_on_end(&t->session.processes, launches_ended, rows->launches);
}

static void loaded(void *ctx)
{
	struct top *t = ctx;
	struct top_rows *rows = &t->rows;
	struct process_table *processes = &t->session.processes;

	t->captures = (struct captures)CAPTURES_OF(t->skel);
	rows->memory = (struct memory)MEMORY_INIT;
	rows->memory.table = rows->processes.table = processes;
	rows->processes.maps = (struct export_maps)EXPORT_MAPS_OF(t->skel);
	rows->processes.budget = &t->budget;
	rows->processes.helpers = &t->session.helpers;
	top_processes_open(&rows->processes);
	if (t->sampling)
		open_samples(t);
	if (t->kernels)
		open_kernels(t);
	t->budget = (struct probe_budget)BUDGET_OF(t->skel, t->overhead, &t->session.probes, &rows->processes.maps);
	probe_budget_open(&t->budget);
	communicators_init(&rows->communicators, &t->session.probes, session_is_alone(&t->session));
	rows->communicators.keeps_ended = true;
	processes->keeps_ended = true;
	process_on_end(processes, memory_ended, &rows->memory);
	process_on_end(processes, on_end, t);
	process_on_end(processes, top_process_ended, &rows->processes);
	t->session.on_process = on_process;
	t->session.probes.tool = t;
	if (t->gpu_time) {
		rows->gpu = &t->gpu;
		gpu_time_open(&t->gpu, processes);
		process_on_end(processes, gpu_time_ended, &t->gpu);
		if (t->session.command)
			gpu_time_begin(&t->gpu);
	}
	nvml_start(&rows->nvml, &t->session.helpers.helper, t->session.verbose);
}

static void scan(void *launches, int pid)
{
	launches_scan(launches, pid);
}

static void start(void *ctx)
{
	struct top *t = ctx;

	if (t->kernels)
		syms_each(t->session.syms, scan, t->rows.launches);
	t->rows.began = t->rows.counted = clock_ns();
	t->who = session_who(&t->session);
	t->rows.inflight = (struct inflight)INFLIGHT_OF(t->skel, &t->session, false);
	t->rows.inflight.memory = &t->rows.memory;
	t->rows.inflight.frames = (struct stack_config){ .dwarf = true, .native = true, .python = true };
	t->rows.inflight.stacks = true;
	inflight_start(&t->rows.inflight);
	open_screen(t);
	t->events.calm_ms = t->gpu_time ? CALM_GPU_MS : CALM_MS;
	t->events.wake = t->session.live ? STDIN_FILENO : -1;
}

static int stop(void *ctx, int sig)
{
	struct top *t = ctx;

	screen_close();
	if (t->gpu_time)
		gpu_time_stop(&t->gpu);
	live_stop(&t->live, &t->session, &t->events);
	t->session.stack_losses = (struct stack_losses){ 0 };	/* of samples: their time counts as that of an unknown function */
	return sig;
}

static int finish(void *ctx, int status)
{
	struct top *t = ctx;

	if (t->gpu_time)
		gpu_time_close(&t->gpu);
	communicators_warn(&t->rows.communicators);
	top_samples_end(&t->samples);
	top_rows_free(&t->rows);
	probe_budget_free(&t->budget);
	detail_free(&t->detail);
	top_gpus_free(&t->gpus);
	free(t->who);
	return status;
}

int main(int argc, char **argv)
{
	struct top top = {
		.session = SESSION_INIT, .events = { .record = on_record, .report = report, .tick = tick, .ctx = &top },
		.live = { &top.screen, &top, gather, print, next }, .first = true,
		.classes = MEMORY_CLASSES | 1 << CUDA_COPY | 1 << CUDA_LAUNCH | 1 << CUDA_SYNC | CUDA_LOADS | CUDA_GRAPH_CLASSES |
			   (NCCL_CLASSES & ~(1u << CUDA_GROUP)),
		.max_overhead = "1%",
	};
	const struct opt opts[] = {
		OPT_TARGET(&top.session),
		OPT_FLAG('b', "batch", &top.batch, "print blocks of text even on a terminal"),
		OPT_FLAG(0, "once", &top.once, "print one block, of one second, and exit"),
		OPT_NUM('r', "rows", "ROWS", &top.max_rows, 1, "show at most ROWS rows; default: 40, all in JSON and live"),
		OPT_CHOICE('s', "sort", TOP_SORT_WORDS, &top.rows.sort, "sort order; default: memory"),
		OPT_STR('m', "memory", "PID", &top.account, "print of what the memory of a process consists"),
		OPT_FLAG(0, "tree", &top.rows.tree, "children below their parents"),
		OPT_FLAG(0, "names", &top.rows.names, "names of processes instead of their command lines"),
		OPT_STR(0, "filter", "TEXT", &top.filter, "only rows with TEXT in PID, user, command, container, hint or call"),
		OPT_STR(0, "max-overhead", "PERCENT", &top.max_overhead, "sample launches where probes cost more of a core; default: 1%"),
		OPT_FLAG(0, "gpu-time", &top.gpu_time, "also time on the GPU, by CUPTI"),
		OPT_STR(0, "sample", "RUN/PERIOD", &top.sample, "measure GPU time for RUN of each PERIOD: 100ms/1s"),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .interval = true, .session = &top.session, .events = &top.events,
		.source = &top.source, .classes = &top.classes, .devices = true, .ctx = &top, .check = check, .prepare = prepare,
		.stacks = &top.sampling, .open = open_skel, .loaded = loaded,
		.start = start, .stop = stop, .close = finish,
	};

	return tool_run(&tool, argc, argv);
}
