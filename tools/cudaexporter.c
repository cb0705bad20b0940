// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* cudaexporter - serve held memory, errors, launches, copies and waits of CUDA programs to Prometheus */
#include <stdio.h>
#include <unistd.h>
#include <stdlib.h>
#include <bpf/libbpf.h>
#include "abi/launch.h"
#include "api/cuda_fn.h"
#include "bpf/bpf_mmap.h"
#include "base/clock.h"
#include "cudaexporter/exporter.h"
#include "cudaexporter/notify.h"
#include "cudaexporter/textfile.h"
#include "cudaexporter/web.h"
#include "model/inflight.h"
#include "session/tool.h"
#include "cudaexporter.skel.h"

static const struct usage usage = {
	.args = "",
	.what = "Serve what CUDA programs hold, launch, copy and wait for to Prometheus: GET /metrics.",
	.examples =
	"  cudaexporter                        # http://127.0.0.1:10950/metrics\n"
	"  cudaexporter --web.listen-address :10950 # for all hosts\n"
	"  cudaexporter --by pod               # one set of series for each pod\n"
	"  cudaexporter --textfile /var/lib/prometheus/node-exporter/cuda.prom\n"
	"  cudaexporter --once -d 10 -p 181    # print a page after 10 seconds\n",
};

/* How often it looks while nothing happens, ms. */
enum { CALM_MS = 250 };

struct main {
	struct exporter exporter;
	struct opt_many listen, kernel_map;
	struct web_options web_options;
	struct web web;
	const char *labels, *by, *ages, *textfile;
	long interval_ns, series, processes;
	bool stopped, last;	/* by a signal; the page is the last one */
	bool once, functions, off_cpu, exemplars;
	unsigned classes;
	unsigned long long written;
	struct session session;
	struct event_loop events;
	struct cudaexporter_bpf *skel;
};

static void check_kernels(struct main *m)
{
	struct kernel_naming *naming = &m->exporter.kernels.naming;

	if (m->kernel_map.n && !naming->most)
		usage_error("--kernel-map needs --kernels: without it no kernel is named");
	for (int i = 0; i < m->kernel_map.n; i++)
		kernel_map_add(&naming->map, m->kernel_map.list[i]);
	free(m->kernel_map.list);
	if (naming->most)
		m->classes |= 1 << CUDA_NAME;
}

static void check_useless(const struct main *m)
{
	bool file = m->textfile || m->once;

	if (file && (m->listen.n || m->web_options.config_file || m->web_options.path || m->web_options.max_requests))
		usage_error("--textfile and --once serve no pages; they cannot be combined with --web.listen-address, "
			    "--web.telemetry-path, --web.config.file or --web.max-requests");
	if (file && m->exemplars)
		usage_error("--exemplars are in OpenMetrics alone; it cannot be combined with --textfile or --once");
	if (!file && m->interval_ns >= 0)
		usage_error("--interval requires --textfile or --once");
}

static void check(void *ctx)
{
	struct main *m = ctx;

	labels_parse(&m->exporter.clients.owners.labels, m->labels, m->by);
	held_parse_ages(&m->exporter.held, m->ages);
	check_kernels(m);
	m->web_options.listen = m->listen.list;
	m->web_options.nlisten = m->listen.n;
	check_useless(m);
	if (m->interval_ns < 0)
		m->interval_ns = 15l * VALUE_S;
	if (m->once && !m->session.duration_ns && !m->session.command)
		m->session.duration_ns = m->interval_ns;
}

static bool page(void *ctx, const struct web_request *r, FILE *f)
{
	struct main *m = ctx;

	if (!m->exporter.ready)
		return false;
	if (r->what == WEB_METRICS)
		exporter_page(&m->exporter, f, r->format == WEB_OPENMETRICS, r->scraper);
	else if (r->what == WEB_PROBES)
		probed_print(&m->exporter.probed, f);
	return true;
}

static bool file_page(void *ctx, FILE *f)
{
	struct main *m = ctx;

	exporter_page(&m->exporter, f, false, m->once || m->last ? 0 : READER_FILE);
	return true;
}

static void prepare(void *ctx)
{
	struct main *m = ctx;

	if (m->once || m->session.list)
		return;
	m->events.calm_ms = CALM_MS;
	m->events.wake = -1;
	if (m->textfile)
		return;
	m->web.page = page;
	m->web.ctx = m;
	web_open(&m->web, &m->web_options);
	m->events.wake = web_fd(&m->web);
}

/* What is not wanted takes no room. */
static void open_kernels(struct main *m)
{
	bool wanted = m->exporter.kernels.naming.most;

	m->skel->rodata->export_kernels = wanted;
	m->skel->rodata->export_exemplars = m->exemplars;
	bpf_program__set_autoload(m->skel->progs.process_fork, wanted);
	if (!m->exemplars)
		bpf_map__set_max_entries(m->skel->maps.exemplars, 1);
	if (!wanted) {
		bpf_map__set_max_entries(m->skel->maps.counts, 1);
		bpf_map__set_max_entries(m->skel->maps.quick, 1);
		return;
	}
	bpf_mmap_per_cpu(m->skel->maps.quick, LAUNCH_SLOTS);
	session_need_syms(&m->session);
}

static void *open_skel(void *ctx)
{
	struct main *m = ctx;

	m->skel = cudaexporter_bpf__open();
	if (!m->skel)
		return NULL;
	m->skel->rodata->export_functions = m->functions;
	m->skel->rodata->export_off_cpu = m->off_cpu;
	bpf_program__set_autoload(m->skel->progs.export_switch, m->off_cpu);
	bpf_mmap_per_cpu(m->skel->maps.export_slots, EXPORT_SLOTS);
	open_kernels(m);
	return m->skel;
}

static void on_process(void *ctx, int pid)
{
	exporter_mapped(ctx, pid);
}

static void on_probe(void *ctx, const char *path, const struct function *fn, const struct elf_probe *probe,
		     const char *skipped)
{
	struct exporter *e = ctx;

	probed_function(&e->probed, path, fn, probe, skipped);
}

static void on_skipped(void *ctx, const char *path, const char *why)
{
	struct exporter *e = ctx;

	probed_file(&e->probed, path, why);
}

static void loaded(void *ctx)
{
	struct main *m = ctx;
	struct exporter *e = &m->exporter;

	e->session = &m->session;
	m->session.reads_at_exec = true;
	process_on_end(&m->session.ends, kernel_counts_ended, &e->kernels);
	process_on_end(&m->session.ends, exporter_on_end, e);
	series_init(&e->table, m->series);
	e->clients.owners.table = e->held.table = e->counts.table = e->self.table = &e->table;
	e->clients.owners.most = m->processes;
	e->clients.ended = exporter_ended;
	e->clients.ctx = e;
	owners_init(&e->clients.owners);
	e->held.clients = e->counts.clients = &e->clients;
	e->held.memory.is_preexisting = session_is_preexisting;
	e->held.memory.ctx = &m->session;
	e->counts.slots = m->skel->maps.export_slots;
	e->counts.rest = m->skel->maps.export_counts;
	e->counts.errors = m->skel->maps.export_errors;
	e->counts.rest_shares = &m->skel->data_export_shares->export_shares;
	e->counts.error_shares = &m->skel->data_export_error_shares->export_error_shares;
	e->counts.off_cpu = m->off_cpu;
	e->counts.exemplars = m->exemplars ? m->skel->maps.exemplars : NULL;
	e->counts.exemplar_shares = &m->skel->data_exemplar_shares->exemplar_shares;
	counts_open(&e->counts);
	gpus_open(&e->gpus, &e->owner, &m->session.helpers, m->session.verbose);
	kernel_counts_open(&e->kernels, m->session.syms, m->skel->maps.counts, m->skel->maps.quick,
			   &m->skel->bss->counts_shares);
	e->probed.kind = attach_name(m->session.probes.attacher.kind);
	e->self.clients = &e->clients;
	e->self.owner = &e->owner;
	e->self.obj = m->skel->obj;
	e->self.lost = m->skel->data_lost->lost;
	e->self.ignored = &e->held.ignored;
	e->self.hits = (const void *)m->skel->data_export_hits->export_hits;
	self_open(&e->self);
	m->session.probes.tool = m->session.probes.listener = e;
	m->session.on_process = on_process;
	m->session.probes.on_probe = on_probe;
	m->session.probes.on_skipped = on_skipped;
}

static void start(void *ctx)
{
	struct main *m = ctx;

	m->exporter.inflight = (struct inflight)INFLIGHT_OF(m->skel, &m->session, false);
	m->exporter.inflight.memory = &m->exporter.held.memory;
	inflight_start(&m->exporter.inflight);
	kernel_counts_scan(&m->exporter.kernels);
	m->exporter.ready = true;
	notify_manager("READY=1");
}

static int on_record(void *ctx, void *data, size_t size)
{
	struct main *m = ctx;

	exporter_record(&m->exporter, data, size);
	return 0;
}

static bool tick(void *ctx)
{
	struct main *m = ctx;

	exporter_tick(&m->exporter);
	if (!m->textfile && !m->once)
		web_tick(&m->web);
	if (!m->textfile || m->once || clock_ns() - m->written < (unsigned long long)m->interval_ns)
		return true;
	m->written = clock_ns();
	textfile_write(m->textfile, file_page, m);
	return true;
}

/* A file that is left after a signal would show for ever what was then. */
static int stop(void *ctx, int sig)
{
	struct main *m = ctx;

	m->stopped = sig && !m->once;
	if (m->stopped && m->textfile)
		unlink(m->textfile);
	return sig;
}

/* Returns false if what the processes did last cannot be written. */
static bool write_last(struct main *m)
{
	m->last = true;
	m->exporter.collected = 0;
	if (m->textfile && !m->stopped)
		return textfile_write(m->textfile, file_page, m);
	if (m->once && !m->textfile)
		file_page(m, stdout);
	return true;
}

static int finish(void *ctx, int status)
{
	struct main *m = ctx;

	notify_manager("STOPPING=1");
	web_close(&m->web);
	clients_check(&m->exporter.clients, true);	/* all records are handled: what is gone has ended */
	if (m->exporter.ready && !write_last(m))
		status = EXIT_FAILURE;
	exporter_free(&m->exporter);
	free(m->listen.list);
	return status;
}

int main(int argc, char **argv)
{
	struct main m = {
		.session = SESSION_INIT, .exporter.held.memory = MEMORY_INIT,
		.classes = MEMORY_CLASSES | 1 << CUDA_COPY | 1 << CUDA_LAUNCH | 1 << CUDA_SYNC,
		.ages = "60,600,3600", .interval_ns = -1, .series = 10000, .processes = 256,
		.events = { .record = on_record, .tick = tick, .ctx = &m },
	};
	const struct opt opts[] = {
		OPT_WHICH(&m.session),
		OPT_CHOICE(0, "attach", ATTACH_KERNEL_WORDS, &m.session.attach,
			   "how to attach; default: auto, the best the kernel supports"),
		OPT_FILTER(&m.session.filter),
		OPT_MANY(0, "web.listen-address", "ADDR", &m.listen, "serve at HOST:PORT or :PORT; default: 127.0.0.1:10950"),
		OPT_STR(0, "web.telemetry-path", "PATH", &m.web_options.path, "serve the metrics at PATH; default: /metrics"),
		OPT_STR(0, "web.config.file", "FILE", &m.web_options.config_file, "TLS and users, as exporter-toolkit reads them"),
		OPT_NUM(0, "web.max-requests", "N", &m.web_options.max_requests, 1, "serve at most N requests at once; default: 4"),
		OPT_STR(0, "textfile", "FILE", &m.textfile, "write the metrics to FILE instead, every interval"),
		OPT_TIME(0, "interval", "SECONDS", &m.interval_ns, VALUE_S, VALUE_S, "write FILE that often; default: 15 seconds"),
		OPT_FLAG(0, "once", &m.once, "print the metrics at the end and serve none; -d is an interval by default"),
		OPT_STR(0, "labels", "LABEL[,LABEL...]", &m.labels, "labels of each process: " LABEL_WORDS "; default: pid,comm"),
		OPT_STR(0, "by", LABEL_BY_WORDS, &m.by, "one set of series for each of these, without pid"),
		OPT_STR(0, "ages", "SECONDS[,...]", &m.ages, "ages of held memory; default: 60,600,3600"),
		OPT_NUM(0, "max-processes", "N", &m.processes, 1, "at most N processes of a user have series of their own; default: 256"),
		OPT_NUM(0, "max-series", "N", &m.series, 1, "at most N series of a user's processes; default: 10000"),
		OPT_FLAG(0, "sync-functions", &m.functions, "waits by function"),
		OPT_FLAG(0, "collect.off-cpu", &m.off_cpu, "how long waiting threads are off the CPU"),
		OPT_NUM(0, "kernels", "N", &m.exporter.kernels.naming.most, 0,
			"launches by kernel: each process's first N that are launched 1,000 times; default: 0"),
		OPT_MANY(0, "kernel-map", "RE=NAME", &m.kernel_map, "call kernels NAME whose name matches RE, an extended regular expression"),
		OPT_FLAG(0, "exemplars", &m.exemplars, "the last call of each bucket of copies and waits, in OpenMetrics"),
		OPT_FLAG(0, "self-time", &m.exporter.self.times, "CPU time of the BPF programs"),
		OPT_STEER(&m.session),
		OPT_QUIET(&m.session),
		OPT_END
	};
	const struct tool tool = {
		.usage = &usage, .opts = opts, .session = &m.session, .events = &m.events, .classes = &m.classes,
		.devices = true, .ctx = &m, .check = check, .prepare = prepare, .open = open_skel,
		.loaded = loaded, .start = start, .stop = stop, .close = finish,
	};

	web_serve_if_server(argc, argv);
	return tool_run(&tool, argc, argv);
}
