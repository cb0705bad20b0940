/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/clock.h"
#include "cudaexporter/exporter.h"
#include "inflight/inflight.h"
#include "probe/dso.h"
#include "probe/scan.h"
#include "session/session.h"

static const unsigned long long SECOND_NS = 1000000000, SWEEP_NS = 250000000, CHECK_NS = 15 * 1000000000ull,
				SCRAPER_NS = 300 * 1000000000ull;

static void exporter_ended(void *ctx, int pid)
{
	struct exporter *e = ctx;

	memory_metrics_forget(&e->memory, pid);
	profiles_forget(&e->profiles, pid);
	process_drop(&e->session->processes, pid);
	probe_budget_ended(&e->budget, pid);
}

static void exporter_on_end(void *ctx, const struct process_event *event)
{
	struct exporter *e = ctx;
	struct cuda_process *process = processes_find(&e->processes, event->head.pid);

	if (process && (process->key.program ? process->key.program == event->program : process->made < event->time))
		processes_end(&e->processes, process);
}

void exporter_record(struct exporter *e, const void *data, size_t size)
{
	const struct export_seen *seen = data;

	if (profiles_record(&e->profiles, data))
		return;
	nccl_counts_graph(&e->nccl, data, size);
	if (kernel_counts_record(&e->kernels, data, size) || record_is_process_event(data))
		return;
	if (seen->head.kind == EXPORT_SEEN) {
		processes_seen(&e->processes, seen)->preexisting =
			process_is_preexisting(&e->session->processes, seen->head.pid);
		gpu_time_expect(&e->gpu.time, seen->head.pid);
		probe_budget_seen(&e->budget, seen->head.pid);
	} else if (!nccl_counts_record(&e->nccl, data, size)) {
		memory_metrics_record(&e->memory, data);
		profiles_memory(&e->profiles, data);
	}
}

/* Ignores an ended process: either its record is still to come, or it made no call. */
static void exporter_mapped(void *ctx, int pid)
{
	struct exporter *e = ctx;
	char comm[IDENTITY_COMM];

	if (!filter_wants(&e->session->selected, pid))
		processes_leave_out(&e->processes, pid);
	else if (proc_comm(pid, comm))
		processes_mapped(&e->processes, pid)->preexisting = process_is_preexisting(&e->session->processes, pid);
}

static void check(struct exporter *e, unsigned long long now)
{
	bool thorough = now - e->checked >= CHECK_NS;

	if (thorough)
		e->checked = now;
	processes_check(&e->processes, thorough);
}

/* Frees the processes that are over when it has read their counts. */
static void read_counts(struct exporter *e, bool only_over)
{
	kernel_counts_read(&e->kernels);
	gpu_counts_read(&e->gpu, &e->kernels, &e->processes, only_over);
	kernel_counts_show(&e->kernels, &e->processes, only_over);
	counts_read(&e->counts, only_over);
}

void exporter_tick(struct exporter *e)
{
	unsigned long long now = clock_ns();

	probe_budget_tick(&e->budget);
	kernel_counts_tick(&e->kernels);
	gpu_counts_tick(&e->gpu);
	if (now - e->swept < SWEEP_NS)
		return;
	e->swept = now;
	if (now - e->checked >= CHECK_NS) {
		check(e, now);
		profiles_sweep(&e->profiles);
	}
	if (!e->processes.over)
		return;
	read_counts(e, true);
	e->collected = 0;	/* the page collected before counts them as live */
}

/* runtime is "" for a statically linked runtime. */
static char *info_labels(struct exporter *e, const struct cuda_process *process)
{
	struct labels all = { .mask = (1 << LABEL_MAX) - 1 };
	char *id = labels_text(&all, process->key.pid, &process->is), *text;
	int runtime = scan_runtime(&e->session->probes, process->key.pid);

	text = runtime ? xprintf("%s,runtime=\"%d\",complete=\"%d\"", id, runtime, !process->preexisting) :
	       xprintf("%s,runtime=\"\",complete=\"%d\"", id, !process->preexisting);
	free(id);
	return text;
}

static void collect_info(struct exporter *e)
{
	struct cuda_process *process;

	for (process = e->processes.by_pid; process; process = process->hh_pid.next) {
		if (process->set != e->processes.sets.other &&
		    !process_shown(process, METRIC_PROCESS_INFO))
			process_show(process, METRIC_PROCESS_INFO, info_labels(e, process));
	}
}

static void collect(struct exporter *e)
{
	unsigned long long began = clock_ns();

	check(e, began);
	series_begin(&e->table);
	read_counts(e, false);
	memory_metrics_collect(&e->memory);
	nccl_counts_collect(&e->nccl, e->counts.epoch);
	calls_inflight_collect(&e->inflight, &e->processes);
	collect_info(e);
	gpus_collect(&e->gpus, &e->processes, &e->memory);
	probed_collect(&e->probed, &e->own);
	self_budget(&e->self, &e->budget);
	self_collect(&e->self, clock_ns() - began);
	series_end(&e->table);
	e->collected = clock_ns();
}

/* Returns a scraper's number; -1 if who is 0, or if too many scrapers are active. */
static int scraper_of(struct exporter *e, unsigned long long who)
{
	unsigned long long now = clock_ns();
	int free = -1;

	for (int i = 0; who && i < SCRAPERS; i++) {
		struct scraper *s = &e->scrapers[i];

		if (s->who == who) {
			s->last = now;
			s->pages++;
			return i;
		}
		if (free < 0 && (!s->who || now - s->last > SCRAPER_NS))
			free = i;
	}
	if (free < 0)
		return -1;
	e->scrapers[free] = (struct scraper){ who, now, 1 };
	series_new_scraper(&e->table, free);
	return free;
}

static unsigned active(const struct exporter *e)
{
	unsigned long long now = clock_ns();
	unsigned mask = 0;

	for (int i = 0; i < SCRAPERS; i++)
		if (e->scrapers[i].pages > 1 && e->scrapers[i].who != SCRAPER_FILE && now - e->scrapers[i].last <= SCRAPER_NS)
			mask |= 1 << i;
	return mask;
}

void exporter_page(struct exporter *e, FILE *f, bool openmetrics, unsigned long long who)
{
	int scraper = scraper_of(e, who);

	if (!e->collected || clock_ns() - e->collected >= SECOND_NS)
		collect(e);
	series_of(&e->own, METRIC_SERIES, (struct metric_labels){ 0 }, true)->live =
		series_samples(&e->table);
	page_print(f, &e->table, openmetrics, scraper);
	if (!e->processes.over)	/* the page has the last counts of ended processes */
		label_sets_paged(&e->processes.sets, scraper < 0 ? SCRAPERS : scraper, active(e));
	nccl_counts_paged(&e->nccl, scraper < 0 ? SCRAPERS : scraper, active(e));
}

bool exporter_profile(struct exporter *e, const struct web_request *r, FILE *f)
{
	if (r->what == WEB_PROFILE_LAUNCHES)
		kernel_counts_read(&e->kernels);
	return profiles_page(&e->profiles, r, f);
}

static void on_probe(void *ctx, const char *path, const struct function *fn, const struct elf_probe *probe,
		     const char *skipped)
{
	probed_function(&((struct exporter *)ctx)->probed, path, fn, probe, skipped);
}

static void on_skipped(void *ctx, const char *path, const char *why)
{
	probed_file(&((struct exporter *)ctx)->probed, path, why);
}

void exporter_open(struct exporter *e, struct session *session, const struct exporter_limits *limits,
		   const struct exporter_probes *probes, bool off_cpu)
{
	e->session = session;
	e->own.table = &e->table;
	series_init(&e->table, limits->series);
	label_sets_init(&e->processes.sets, &e->table, limits->processes);
	processes_init(&e->processes, exporter_ended, e);
	memory_metrics_init(&e->memory, &e->processes, &session->processes);
	counts_open(&e->counts, &probes->counts, off_cpu, &e->processes);
	e->budget = probes->budget;
	e->counts.budget = &e->budget;
	probe_budget_open(&e->budget);
	gpus_open(&e->gpus, &e->own, &session->helpers, session->verbose);
	profiles_open(&e->profiles, session);
	e->kernels.profiles = e->profiles.wanted ? &e->profiles : NULL;
	kernel_counts_open(&e->kernels, session->syms, probes->kernel_counts, probes->kernel_quick,
			   probes->kernel_shares);
	gpu_counts_open(&e->gpu, session);
	nccl_counts_open(&e->nccl, session, &e->processes, probes->nccl_lost);
	e->probed.kind = attach_name(session->probes.attacher.kind);
	e->self.gpu = e->gpu.wanted ? &e->gpu.time : NULL;
	self_open(&e->self, &e->own, &e->processes, &e->memory, &probes->self);
	session->reads_at_exec = true;
	process_on_end(&session->processes, kernel_counts_ended, &e->kernels);
	if (e->gpu.wanted)
		process_on_end(&session->processes, gpu_time_ended, &e->gpu.time);
	process_on_end(&session->processes, nccl_counts_ended, &e->nccl);
	process_on_end(&session->processes, exporter_on_end, e);
	session->on_process = exporter_mapped;
	session->probes.tool = session->probes.listener = e;
	session->probes.on_probe = on_probe;
	session->probes.on_skipped = on_skipped;
}

void exporter_start(struct exporter *e, const struct inflight *inflight)
{
	e->inflight = *inflight;
	e->inflight.memory = &e->memory.model;
	inflight_start(&e->inflight);
	kernel_counts_scan(&e->kernels);
	e->ready = true;
}

void exporter_free(struct exporter *e)
{
	inflight_free(&e->inflight);
	kernel_counts_free(&e->kernels);	/* it has kernels of gpu */
	gpu_counts_close(&e->gpu);
	nccl_counts_free(&e->nccl);
	processes_free(&e->processes);
	label_sets_free(&e->processes.sets);
	series_drop_set(&e->own);
	series_free(&e->table);
	memory_metrics_free(&e->memory);
	profiles_free(&e->profiles);
	gpus_close(&e->gpus);
	probed_free(&e->probed);
	self_close(&e->self);
	probe_budget_free(&e->budget);
	dso_free(&e->session->probes);	/* the last page may be made after session_finish() */
}
