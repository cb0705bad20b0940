/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>
#include "abi/cudaexporter.h"
#include "api/cuda_fn.h"
#include "base/clock.h"
#include "base/escape.h"
#include "base/version.h"
#include "budget/probe_budget.h"
#include "cudaexporter/label_sets.h"
#include "cudaexporter/self.h"
#include "elf/elf.h"
#include "gputime/gpu_time.h"
#include "probe/probe_source.h"

static const char *const lost_reasons[LOST_MAX] = {
	[LOST_RECORD] = "reason=\"ring_buffer_full\"", [LOST_THREAD] = "reason=\"no_memory_for_thread\"",
	[LOST_RETURN] = "reason=\"never_returned\"", [LOST_READ] = "reason=\"unreadable_argument\"",
	[LOST_PROCESS] = "reason=\"process_end_missed\"", [LOST_GROUP] = "reason=\"group_table_full\"",
	[LOST_PIECES] = "reason=\"batch_too_long\"", [LOST_LATE] = "reason=\"handled_too_late\"",
	[LOST_PROC_TABLE_FULL] = "reason=\"too_many_processes\"",
};

void self_open(struct self *s, struct label_set *set, const struct processes *processes, const struct memory_metrics *memory,
	       const struct self_probes *probes)
{
	s->set = set;
	s->processes = processes;
	s->memory = memory;
	s->probes = *probes;
	s->started = clock_wall_ns();
	s->build = xprintf("version=\"%s\",revision=\"%s\",libbpf=\"%s\"", VERSION, version_revision(), libbpf_version_string());
	s->stats = s->times ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1;
	if (s->times && s->stats < 0)
		die(errno, "--self-time: cannot make the kernel measure BPF programs (CAP_SYS_ADMIN is needed)");
}

static void collect_lost(struct self *s)
{
	for (int i = 0; i < LOST_MAX && lost_reasons[i]; i++)	/* the last one is for --attach inject */
		series_count_live(s->set, METRIC_LOST_EVENTS, metric_text(lost_reasons[i]), s->probes.lost[i]);
	series_count_live(s->set, METRIC_LOST_EVENTS, metric_text("reason=\"allocation_table_full\""),
			  s->memory->ignored);
	if (!s->gpu)
		return;
	series_count_live(s->set, METRIC_LOST_EVENTS, metric_text("reason=\"gpu_record_dropped\""), s->gpu->dropped);
	series_count_live(s->set, METRIC_LOST_EVENTS, metric_text("reason=\"gpu_record_unknown\""), s->gpu->unknown);
}

static void collect_hits(struct self *s)
{
	for (unsigned g = 0; g < EXPORT_GROUPS; g++) {
		unsigned long long n = 0;

		for (int lane = 0; lane < EXPORT_HITS; lane++)
			n += s->probes.hits[lane][g];
		series_count_live(s->set, METRIC_PROBE_HITS, metric_labels(g, 0), n);
	}
}

void self_budget(struct self *s, const struct probe_budget *b)
{
	double ns = 0, hits = 0;

	if (!b->share)
		return;
	series_count_live(s->set, METRIC_LOST_EVENTS, metric_text("reason=\"program_not_probed\""), b->unprobed);
	for (const struct overhead_process *p = b->overhead.all; p; p = p->hh.next) {
		ns += overhead_program_ns(p) * p->hits.hits;
		hits += p->hits.hits;
	}
	series_add(s->set, METRIC_HIT_SECONDS, metric_text("part=\"trap\""), b->overhead.trap_ns);
	if (hits)
		series_add(s->set, METRIC_HIT_SECONDS, metric_text("part=\"program\""), ns / hits);
}

static void collect_times(struct self *s)
{
	struct bpf_program *p;
	int i = 0;

	bpf_object__for_each_program(p, s->probes.obj) {
		struct bpf_prog_info info = { 0 };
		unsigned size = sizeof(info);
		char *labels = s->programs[i];

		if (++i == SELF_PROGRAMS)
			return;
		if (bpf_program__fd(p) < 0 || bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &size))
			continue;
		snprintf(labels, sizeof(*s->programs), "program=\"%s\"", bpf_program__name(p));
		series_count_live(s->set, METRIC_BPF_SECONDS, metric_text(labels), info.run_time_ns);
	}
}

static void collect_processes(struct self *s)
{
	unsigned other = s->processes->sets.other ? s->processes->sets.other->processes : 0;

	series_add(s->set, METRIC_PROCESSES, metric_text("state=\"traced\""),
		   HASH_CNT(hh_pid, s->processes->by_pid) - other);
	series_add(s->set, METRIC_PROCESSES, metric_text("state=\"over_limit\""), other);
	series_add(s->set, METRIC_PROCESSES, metric_text("state=\"left_out\""), processes_left_out(s->processes));
}

/* Returns a field of /proc/self/statm, in bytes. */
static unsigned long long statm(int word)
{
	unsigned long long n[2] = { 0, 0 };
	FILE *f = fopen("/proc/self/statm", "re");

	if (f && fscanf(f, "%llu %llu", &n[0], &n[1]) != 2)
		n[word] = 0;
	if (f)
		fclose(f);
	return n[word] * sysconf(_SC_PAGESIZE);
}

static unsigned long long descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	unsigned long long n = 0;

	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n > 3 ? n - 3 : 0;	/* ., .. and d itself */
}

static unsigned long long cpu_ns(const struct timeval *t)
{
	return t->tv_sec * 1000000000ull + t->tv_usec * 1000ull;
}

static void collect_usual(struct self *s)
{
	struct rlimit files = { 0 };
	struct rusage used;

	getrusage(RUSAGE_SELF, &used);
	getrlimit(RLIMIT_NOFILE, &files);
	series_count_live(s->set, METRIC_CPU_SECONDS, metric_text(NULL),
			  cpu_ns(&used.ru_utime) + cpu_ns(&used.ru_stime));
	series_add(s->set, METRIC_RESIDENT, metric_text(NULL), statm(1));
	series_add(s->set, METRIC_VIRTUAL, metric_text(NULL), statm(0));
	series_add(s->set, METRIC_OPEN_FDS, metric_text(NULL), descriptors());
	series_add(s->set, METRIC_MAX_FDS, metric_text(NULL), files.rlim_cur);
	series_add(s->set, METRIC_START_TIME, metric_text(NULL), s->started);
}

void self_collect(struct self *s, unsigned long long ns)
{
	series_add(s->set, METRIC_BUILD_INFO, metric_text(s->build), 1);
	collect_processes(s);
	collect_lost(s);
	collect_hits(s);
	if (s->times)
		collect_times(s);
	collect_usual(s);
	series_count_live(s->set, METRIC_SERIES_DROPPED, metric_text("limit=\"series\""), s->set->table->dropped);
	series_count_live(s->set, METRIC_SERIES_DROPPED, metric_text("limit=\"processes\""),
			  s->processes->sets.dropped);
	series_add(s->set, METRIC_COLLECT_SECONDS, metric_text(NULL), ns);
	series_add(s->set, METRIC_SERIES, metric_text(NULL), 0);
}

void self_close(struct self *s)
{
	if (s->stats >= 0)
		close(s->stats);
	free(s->build);
}

static void count_reason(struct probed *p, const char *why)
{
	struct probed_reason *r = p->reasons;

	while (r < p->reasons + PROBED_REASONS - 1 && r->why && strcmp(r->why, why))
		r++;
	if (!r->why) {
		r->why = r == p->reasons + PROBED_REASONS - 1 ? "other" : why;
		r->labels = label_text("reason", r->why);
	}
	r->n++;
}

/* Returns the line of a file; the caller frees it. */
static char *self_line_of(const char *path, const char *rest)
{
	char *text;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		die(errno, "cannot write a line");
	escape_text(f, path);
	fprintf(f, "  %s\n", rest);
	if (fclose(f))
		die(ENOMEM, "cannot write a line");
	return text;
}

static void add_line(struct probed *p, const char *path, char *rest)
{
	char **line;

	if (p->nlines < PROBED_LINES)
		p->lines = xrealloc(p->lines, p->nlines + 1, sizeof(*p->lines));
	line = &p->lines[p->nlines % PROBED_LINES];
	if (p->nlines++ >= PROBED_LINES)
		free(*line);
	*line = self_line_of(path, rest);
	free(rest);
}

void probed_function(struct probed *p, const char *path, const struct function *fn, const struct elf_probe *probe,
		     const char *skipped)
{
	if (skipped)
		count_reason(p, skipped);
	else if (fn->lib < CUDA_LIBS)
		p->in[fn->lib]++;
	add_line(p, path, xprintf("%s %s %#llx%s%s", cuda_lib_name(fn->lib), fn->name, probe->offset,
				  skipped ? "  skipped: " : "", skipped ?: ""));
}

void probed_file(struct probed *p, const char *path, const char *why)
{
	count_reason(p, why);
	add_line(p, path, xprintf("skipped: %s", why));
}

void probed_collect(struct probed *p, struct label_set *set)
{
	static const enum cuda_lib libs[] = { CUDA_RT, CUDA_DRV, CUDA_NCCL, CUDA_NVRTC, CUDA_LIB };

	for (size_t i = 0; i < sizeof(libs) / sizeof(*libs); i++) {
		enum cuda_lib lib = libs[i];

		if (!p->labels[lib])
			p->labels[lib] = xprintf("layer=\"%s\",kind=\"%s\"", cuda_lib_name(lib), p->kind);
		series_add(set, METRIC_PROBES, metric_text(p->labels[lib]), p->in[lib]);
	}
	for (struct probed_reason *r = p->reasons; r < p->reasons + PROBED_REASONS && r->why; r++)
		series_count_live(set, METRIC_PROBE_FAILURES, metric_text(r->labels), r->n);
}

void probed_print(const struct probed *p, FILE *f)
{
	unsigned first = p->nlines > PROBED_LINES ? p->nlines - PROBED_LINES : 0;

	if (first)
		fputs("...\n", f);
	for (unsigned i = first; i < p->nlines; i++)
		fputs(p->lines[i % PROBED_LINES], f);
}

void probed_free(struct probed *p)
{
	for (unsigned i = 0; i < p->nlines && i < PROBED_LINES; i++)
		free(p->lines[i]);
	free(p->lines);
	for (int i = 0; i < PROBED_REASONS; i++)
		free(p->reasons[i].labels);
	for (int lib = 0; lib < CUDA_LIBS; lib++)
		free(p->labels[lib]);
}
