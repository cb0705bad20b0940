// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudaexporter - serve held memory, errors, launches, copies, waits and NCCL operations of CUDA programs to Prometheus */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "abi/launch.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "base/die.h"
#include "bpf/bpf_mmap.h"
#include "cudaexporter/exporter.h"
#include "cli/value.h"
#include "cudaexporter/web.h"
#include "inflight/inflight.h"
#include "probe/probe_source.h"
#include "session/tool.h"
#include "view/kernel_names.h"
#include "export.skel.h"

static const struct usage usage = {
	.args = "",
	.what = "Serve what CUDA programs hold, launch, copy and wait for to Prometheus: GET /metrics.",
	.examples =
	"  cudaexporter                        # http://127.0.0.1:10950/metrics\n"
	"  cudaexporter --web.listen-address :10950 # for all hosts\n"
	"  cudaexporter --by pod               # one set of series for each pod\n"
	"  cudaexporter --profiles             # call stacks too, for Parca and Pyroscope\n"
	"  cudaexporter --textfile /var/lib/prometheus/node-exporter/cuda.prom\n"
	"  cudaexporter --once -d 10 -p 181    # print a page after 10 seconds\n",
};

/* The tick while no record arrives, ms. */
enum { CALM_MS = 250, SOON_MS = 10 };	/* SOON_MS: while --max-overhead attaches or detaches, or a profile is made */

/* With --gpu-time: a program has room for 65,536 records, and launches are none of ours. */
enum { CALM_GPU_MS = 50 };

/* --communicators: a rank of training by several kinds of parallelism has some ten. */
enum { COMMUNICATORS = 16 };

struct app {
	struct exporter exporter;
	struct opt_many listen, label_map;
	struct web_options web_options;
	struct web web;
	const char *labels, *by, *ages, *textfile, *sample, *max_overhead;
	double overhead;		/* a share of a core; 0: no limit */
	long interval_ns;
	struct exporter_limits limits;
	bool stopped, last;	/* by a signal; the page is the last one */
	bool once, functions, off_cpu, exemplars;
	unsigned classes;
	unsigned long long written;
	long calm_ms;		/* the tick while no record arrives; 0: as always */
	struct session session;
	struct probe_source source;
	struct event_loop events;
	struct export_bpf *skel;
};

static void check_kernels(struct app *app)
{
	struct kernel_naming *naming = &app->exporter.kernels.naming;

	if (app->label_map.n && !naming->most)
		usage_error("--kernel-map requires --kernels");
	if (naming->style >= 0 && !naming->most)
		usage_error("--kernel-names requires --kernels");
	for (int i = 0; i < app->label_map.n; i++)
		label_map_add(&naming->map, app->label_map.list[i]);
	free(app->label_map.list);
	if (naming->most || app->exporter.profiles.wanted)
		app->classes |= 1 << CUDA_NAME;
}

static void check_gpu_time(struct app *app)
{
	struct gpu_counts *gpu = &app->exporter.gpu;

	if (gpu->wanted && !app->exporter.kernels.naming.most)
		usage_error("--gpu-time requires --kernels");
	if (app->sample && !gpu->wanted)
		usage_error("--sample requires --gpu-time");
	if (app->sample)
		gpu_time_sample(&gpu->time, app->sample);
}

/* NCCL's groups begin no operations: the calls in them do. */
static void check_nccl(struct app *app)
{
	app->session.probes.return_classes = NCCL_RETURN_CLASSES;
	app->session.probes.errors = true;
	app->source = cuda_error_source();
	if (app->exporter.nccl.most)
		app->classes |= NCCL_CLASSES & ~(1u << CUDA_GROUP);
}

static void check_useless(const struct app *app)
{
	bool file = app->textfile || app->once;

	if (file && (app->listen.n || app->web_options.config_file || app->web_options.path || app->web_options.max_requests))
		usage_error("--textfile and --once serve no pages; they cannot be combined with --web.listen-address, "
			    "--web.telemetry-path, --web.config.file or --web.max-requests");
	if (file && app->exemplars)
		usage_error("--exemplars requires OpenMetrics; it cannot be combined with --textfile or --once");
	if (file && app->exporter.profiles.wanted)
		usage_error("--profiles requires pages; it cannot be combined with --textfile or --once");
	if (!file && app->interval_ns >= 0)
		usage_error("--interval requires --textfile or --once");
}

static void check(void *ctx)
{
	struct app *app = ctx;

	labels_parse(&app->exporter.processes.sets.labels, app->labels, app->by);
	memory_metrics_parse_ages(&app->exporter.memory, app->ages);
	check_kernels(app);
	check_gpu_time(app);
	check_nccl(app);
	if (!value_percent(app->max_overhead, &app->overhead))
		usage_error("--max-overhead %s: expected a percentage of a core, as 1%%, or off", app->max_overhead);
	app->web_options.listen = app->listen.list;
	app->web_options.nlisten = app->listen.n;
	app->web_options.profiles = app->exporter.profiles.wanted;
	check_useless(app);
	app->session.needs_kernel = app->off_cpu || app->exporter.self.times;
	if (app->session.attach == ATTACH_INJECT && app->session.needs_kernel)
		usage_error("--attach inject cannot be combined with --collect.off-cpu or --self-time");
	if (app->interval_ns < 0)
		app->interval_ns = 15l * VALUE_S;
	if (app->once && !app->session.duration_ns && !app->session.command)
		app->session.duration_ns = app->interval_ns;
}

static bool page(void *ctx, const struct web_request *r, FILE *f)
{
	struct app *app = ctx;

	if (!app->exporter.ready)
		return false;
	if (web_is_profile(r->what))
		return exporter_profile(&app->exporter, r, f);
	if (r->what == WEB_METRICS)
		exporter_page(&app->exporter, f, r->format == WEB_OPENMETRICS, r->scraper);
	else if (r->what == WEB_PROBES)
		probed_print(&app->exporter.probed, f);
	return true;
}

/* Creates a new file.  O_EXCL follows no link of another user; a file left behind is removed. */
static int create(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);

	if (fd < 0 && errno == EEXIST && !unlink(path))
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return fd;
}

static void print_page(struct app *app, FILE *f)
{
	exporter_page(&app->exporter, f, false, app->once || app->last ? 0 : SCRAPER_FILE);
}

/* Returns 0 or the error. */
static int write_page(struct app *app, int fd)
{
	FILE *f = fdopen(fd, "w");
	bool ok;

	if (!f) {
		close(fd);
		return errno;
	}
	errno = 0;
	print_page(app, f);
	ok = !fflush(f) && !ferror(f) && !fchmod(fd, 0644);
	if (fclose(f) || !ok)
		return errno ?: EIO;
	return 0;
}

/* Writes a page to a new file beside --textfile and renames it: a reader gets a complete page.  Returns false, with a
 * warning, if that fails; the file is unchanged then. */
static bool write_textfile(struct app *app)
{
	char *new = xprintf("%s.%d.new", app->textfile, (int)getpid());
	int fd = create(new), err = fd < 0 ? errno : write_page(app, fd);

	if (!err && rename(new, app->textfile))
		err = errno;
	if (err) {
		warning(err, "cannot write %s", app->textfile);
		unlink(new);
	}
	free(new);
	return !err;
}

/* A rename(2) would replace a device, a FIFO, a link such as /dev/stdout, and fail for a directory. */
static void check_textfile(const char *path)
{
	struct stat st;

	if (!lstat(path, &st)) {
		if (!S_ISREG(st.st_mode))
			die(0, "cannot write %s: not a regular file (--textfile replaces FILE; --once prints the metrics)", path);
	} else if (errno != ENOENT) {
		die(errno, "cannot write %s", path);
	}
}

/* Sends our state, "READY=1" or "STOPPING=1", to the service manager that started us, if one did (sd_notify(3)).  Never
 * blocks. */
static void notify_manager(const char *state)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	const char *path = getenv("NOTIFY_SOCKET");
	size_t len = path ? strlen(path) : 0;
	int fd;

	if (!len || len >= sizeof(to.sun_path))
		return;
	memcpy(to.sun_path, path, len);
	if (*path == '@')	/* in the abstract namespace */
		*to.sun_path = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || sendto(fd, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
			     offsetof(struct sockaddr_un, sun_path) + len) < 0)
		warning(errno, "cannot send '%s' to the service manager", state);
	if (fd >= 0)
		close(fd);
}

static void prepare(void *ctx)
{
	struct app *app = ctx;

	if (app->textfile && !app->session.list)
		check_textfile(app->textfile);
	if (app->once || app->session.list)
		return;
	app->events.calm_ms = app->calm_ms = app->exporter.gpu.wanted ? CALM_GPU_MS : CALM_MS;
	app->events.wake = -1;
	if (app->textfile)
		return;
	app->web.page = page;
	app->web.ctx = app;
	web_open(&app->web, &app->web_options);
	app->events.wake = web_fd(&app->web);
}

/* Maps that the options do not need get one element. */
static void open_kernels(struct app *app)
{
	bool wanted = app->exporter.kernels.naming.most || app->exporter.profiles.wanted;

	app->skel->rodata->export_kernels = wanted;
	app->skel->rodata->export_stacks = app->exporter.profiles.wanted;
	app->skel->rodata->export_exemplars = app->exemplars;
	bpf_program__set_autoload(app->skel->progs.process_fork, wanted);
	if (!app->exemplars)
		bpf_map__set_max_entries(app->skel->maps.exemplars, 1);
	if (!wanted) {
		app->session.probes.outermost_classes = 1 << CUDA_LAUNCH;
		bpf_map__set_max_entries(app->skel->maps.counts, 1);
		bpf_map__set_max_entries(app->skel->maps.quick, 1);
		return;
	}
	bpf_mmap_per_cpu(app->skel->maps.quick, LAUNCH_SLOTS);
	session_need_syms(&app->session);
}

static void *open_skel(void *ctx)
{
	struct app *app = ctx;

	app->skel = export_bpf__open();
	if (!app->skel)
		return NULL;
	app->skel->rodata->export_functions = app->functions;
	app->skel->rodata->export_all_errors = true;
	bpf_program__set_autoload(app->skel->progs.call_sample, false);
	bpf_map__set_max_entries(app->skel->maps.call_code, 1);
	app->skel->rodata->export_off_cpu = app->off_cpu;
	app->skel->rodata->export_nccl = app->exporter.nccl.most;
	app->skel->rodata->overhead_wanted = probe_budget_wanted(&app->session.probes, &app->overhead);
	bpf_program__set_autoload(app->skel->progs.export_switch, app->off_cpu);
	bpf_mmap_per_cpu(app->skel->maps.export_slots, EXPORT_SLOTS);
	open_kernels(app);
	return app->skel;
}

static void loaded(void *ctx)
{
	struct app *app = ctx;
	struct export_bpf *skel = app->skel;
	struct exporter_probes probes = {
		.counts = EXPORT_MAPS_OF(skel),
		.budget = BUDGET_OF(skel, app->overhead, &app->session.probes, &app->exporter.counts.maps),
		.kernel_counts = skel->maps.counts,
		.kernel_quick = skel->maps.quick,
		.kernel_shares = &skel->bss->counts_shares,
		.nccl_lost = (const void *)&skel->data_nccl_lost->nccl_lost,
		.self = {
			.obj = skel->obj,
			.lost = skel->data_lost->lost,
			.hits = (const void *)skel->data_export_hits->export_hits,
		},
	};

	if (app->exemplars) {
		probes.counts.exemplars = skel->maps.exemplars;
		probes.counts.exemplar_shares = &skel->data_exemplar_shares->exemplar_shares;
	}
	app->exporter.kernels.captures = (struct captures)CAPTURES_OF(skel);
	exporter_open(&app->exporter, &app->session, &app->limits, &probes, app->off_cpu);
}

static void start(void *ctx)
{
	struct app *app = ctx;
	const struct inflight inflight = INFLIGHT_OF(app->skel, &app->session, false);

	exporter_start(&app->exporter, &inflight);
	notify_manager("READY=1");
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct app *app = ctx;

	exporter_record(&app->exporter, data, size);
	return 0;
}

static bool tick(void *ctx)
{
	struct app *app = ctx;

	const bool serves = !app->textfile && !app->once;

	exporter_tick(&app->exporter);
	if (serves)
		web_tick(&app->web);
	if (app->calm_ms)
		app->events.calm_ms = app->exporter.budget.soon || (serves && web_profiles(&app->web)) ? SOON_MS : app->calm_ms;
	if (!app->textfile || app->once || clock_ns() - app->written < (unsigned long long)app->interval_ns)
		return true;
	app->written = clock_ns();
	write_textfile(app);
	return true;
}

/* Removes the file after a signal: stale values would be scraped forever. */
static int stop(void *ctx, int sig)
{
	struct app *app = ctx;

	app->stopped = sig && !app->once;
	if (app->stopped && app->textfile)
		unlink(app->textfile);
	return sig;
}

/* Returns false if the last counts cannot be written. */
static bool write_last(struct app *app)
{
	app->last = true;
	app->exporter.collected = 0;
	if (app->textfile && !app->stopped)
		return write_textfile(app);
	if (app->once && !app->textfile)
		print_page(app, stdout);
	return true;
}

static int finish(void *ctx, int status)
{
	struct app *app = ctx;

	notify_manager("STOPPING=1");
	web_close(&app->web);
	processes_check(&app->exporter.processes, true);	/* all records have been handled */
	if (app->exporter.ready && !write_last(app))
		status = EXIT_FAILURE;
	exporter_free(&app->exporter);
	free(app->listen.list);
	return status;
}

int main(int argc, char **argv)
{
	struct app app = {
		.session = SESSION_INIT,
		.classes = MEMORY_CLASSES | 1 << CUDA_COPY | 1 << CUDA_LAUNCH | 1 << CUDA_SYNC | CUDA_LOADS | CUDA_GRAPH_CLASSES,
		.max_overhead = "1%", .exporter.nccl.most = COMMUNICATORS, .exporter.kernels.naming.style = -1,
		 .ages = "60,600,3600", .interval_ns = -1, .limits = { .series = 10000, .processes = 256 },
		.events = { .record = on_record, .tick = tick, .ctx = &app },
	};
	const struct opt opts[] = {
		OPT_WHICH(&app.session),
		OPT_CHOICE(0, "attach", ATTACH_WORDS, &app.session.attach,
			   "how to attach; default: auto, the best that is possible here"),
		OPT_FILTER(&app.session.filter),
		OPT_MANY(0, "web.listen-address", "ADDR", &app.listen, "serve at HOST:PORT or :PORT; default: 127.0.0.1:10950"),
		OPT_STR(0, "web.telemetry-path", "PATH", &app.web_options.path, "serve the metrics at PATH; default: /metrics"),
		OPT_STR(0, "web.config.file", "FILE", &app.web_options.config_file, "TLS and users, as exporter-toolkit reads them"),
		OPT_NUM(0, "web.max-requests", "N", &app.web_options.max_requests, 1, "serve at most N concurrent requests; default: 4"),
		OPT_STR(0, "textfile", "FILE", &app.textfile, "write the metrics to FILE instead, every interval"),
		OPT_TIME(0, "interval", "SECONDS", &app.interval_ns, VALUE_S, VALUE_S, "write FILE that often; default: 15 seconds"),
		OPT_FLAG(0, "once", &app.once, "print the metrics at the end and serve none; -d is an interval by default"),
		OPT_STR(0, "labels", "LABEL[,LABEL...]", &app.labels, "labels of each process: " LABEL_WORDS "; default: pid,comm"),
		OPT_STR(0, "by", LABEL_BY_WORDS, &app.by, "one set of series for each of these, without pid"),
		OPT_STR(0, "ages", "SECONDS[,...]", &app.ages, "ages of held memory; default: 60,600,3600"),
		OPT_NUM(0, "max-processes", "N", &app.limits.processes, 1, "at most N processes of a user have series of their own; default: 256"),
		OPT_NUM(0, "max-series", "N", &app.limits.series, 1, "at most N series of a user's processes; default: 10000"),
		OPT_FLAG(0, "sync-functions", &app.functions, "waits by function"),
		OPT_FLAG(0, "collect.off-cpu", &app.off_cpu, "how long waiting threads are off the CPU"),
		OPT_NUM(0, "kernels", "N", &app.exporter.kernels.naming.most, 0,
			"launches by kernel: each process's first N that are launched 1,000 times; default: 0"),
		OPT_MANY(0, "kernel-map", "RE=NAME", &app.label_map, "call kernels NAME whose name matches RE, an extended regular expression"),
		OPT_KERNEL_NAMES(&app.exporter.kernels.naming.style, "how --kernels calls them; default: without template arguments"),
		OPT_FLAG(0, "gpu-time", &app.exporter.gpu.wanted, "time of kernels, graphs and copies on the GPU, by CUPTI"),
		OPT_STR(0, "sample", "RUN/PERIOD", &app.sample, "measure GPU time for RUN of each PERIOD: 100ms/1s"),
		OPT_NUM(0, "communicators", "N", &app.exporter.nccl.most, 0,
			"operations of NCCL by communicator: each process's first N; default: 16; 0: none are traced"),
		OPT_FLAG(0, "exemplars", &app.exemplars, "the last call of each bucket, in OpenMetrics"),
		OPT_FLAG(0, "profiles", &app.exporter.profiles.wanted,
			 "serve call stacks for pprof: /debug/pprof/cuda_held"),
		OPT_STR(0, "max-overhead", "PERCENT", &app.max_overhead, "sample launches where probes cost more of a core; default: 1%"),
		OPT_FLAG(0, "self-time", &app.exporter.self.times, "CPU time of the BPF programs"),
		OPT_STEER(&app.session),
		OPT_QUIET(&app.session),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .session = &app.session, .events = &app.events, .source = &app.source, .classes = &app.classes,
		.stacks = &app.exporter.profiles.wanted, .devices = true, .ctx = &app, .check = check, .prepare = prepare, .open = open_skel,
		.loaded = loaded, .start = start, .stop = stop, .close = finish,
	};

	web_serve_if_server(argc, argv);
	return tool_run(&tool, argc, argv);
}
