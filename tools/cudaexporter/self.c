/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "abi/cudaexporter.h"
#include "base/clock.h"
#include "base/version.h"
#include "cudaexporter/self.h"

static const char *const lost_reasons[LOST_MAX] = {
	[LOST_RECORD] = "reason=\"ring_buffer_full\"", [LOST_THREAD] = "reason=\"no_memory_for_thread\"",
	[LOST_RETURN] = "reason=\"never_returned\"", [LOST_READ] = "reason=\"unreadable_argument\"",
	[LOST_PROCESS] = "reason=\"process_end_missed\"", [LOST_GROUP] = "reason=\"group_table_full\"",
	[LOST_PIECES] = "reason=\"batch_too_long\"", [LOST_LATE] = "reason=\"handled_too_late\"",
	[LOST_PROC_TABLE_FULL] = "reason=\"too_many_processes\"",
};

static struct metric_labels text(const char *labels)
{
	return (struct metric_labels){ 0, (unsigned long long)labels };
}

void self_open(struct self *s)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	s->started = now.tv_sec * 1000000000ull + now.tv_nsec;
	s->build = xprintf("version=\"%s\",revision=\"%s\",libbpf=\"%s\"", VERSION, version_revision(), libbpf_version_string());
	s->stats = s->times ? bpf_enable_stats(BPF_STATS_RUN_TIME) : -1;
	if (s->times && s->stats < 0)
		die(errno, "--self-time: cannot make the kernel measure BPF programs (CAP_SYS_ADMIN is needed)");
}

static void collect_lost(struct self *s)
{
	for (int i = 0; i < LOST_MAX && lost_reasons[i]; i++)	/* the last one is of --attach inject */
		series_count_live(s->table, s->owner, METRIC_LOST_EVENTS, text(lost_reasons[i]), s->lost[i]);
	series_count_live(s->table, s->owner, METRIC_LOST_EVENTS, text("reason=\"allocation_table_full\""),
			  *s->ignored);
}

static void collect_hits(struct self *s)
{
	for (unsigned g = 0; g < EXPORT_GROUPS; g++) {
		unsigned long long n = 0;

		for (int cpu = 0; cpu < 64; cpu++)
			n += s->hits[cpu][g];
		series_count_live(s->table, s->owner, METRIC_PROBE_HITS, (struct metric_labels){ g, 0 }, n);
	}
}

static void collect_times(struct self *s)
{
	struct bpf_program *p;
	int i = 0;

	bpf_object__for_each_program(p, s->obj) {
		struct bpf_prog_info info = { 0 };
		unsigned size = sizeof(info);
		char *labels = s->programs[i];

		if (++i == SELF_PROGRAMS)
			return;
		if (bpf_program__fd(p) < 0 || bpf_obj_get_info_by_fd(bpf_program__fd(p), &info, &size))
			continue;
		snprintf(labels, sizeof(*s->programs), "program=\"%s\"", bpf_program__name(p));
		series_count_live(s->table, s->owner, METRIC_BPF_SECONDS, text(labels), info.run_time_ns);
	}
}

static void collect_processes(struct self *s)
{
	unsigned other = s->clients->owners.other ? s->clients->owners.other->processes : 0;

	series_add(s->table, s->owner, METRIC_PROCESSES, text("state=\"traced\""),
		   HASH_CNT(hh_pid, s->clients->by_pid) - other);
	series_add(s->table, s->owner, METRIC_PROCESSES, text("state=\"over_limit\""), other);
	series_add(s->table, s->owner, METRIC_PROCESSES, text("state=\"left_out\""), clients_left_out(s->clients));
}

/* Returns the word of /proc/self/statm, in bytes. */
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
	series_count_live(s->table, s->owner, METRIC_CPU_SECONDS, text(NULL),
			  cpu_ns(&used.ru_utime) + cpu_ns(&used.ru_stime));
	series_add(s->table, s->owner, METRIC_RESIDENT, text(NULL), statm(1));
	series_add(s->table, s->owner, METRIC_VIRTUAL, text(NULL), statm(0));
	series_add(s->table, s->owner, METRIC_OPEN_FDS, text(NULL), descriptors());
	series_add(s->table, s->owner, METRIC_MAX_FDS, text(NULL), files.rlim_cur);
	series_add(s->table, s->owner, METRIC_START_TIME, text(NULL), s->started);
}

void self_collect(struct self *s, unsigned long long ns)
{
	series_add(s->table, s->owner, METRIC_BUILD_INFO, text(s->build), 1);
	collect_processes(s);
	collect_lost(s);
	collect_hits(s);
	if (s->times)
		collect_times(s);
	collect_usual(s);
	series_count_live(s->table, s->owner, METRIC_SERIES_DROPPED, text("limit=\"series\""), s->table->dropped);
	series_count_live(s->table, s->owner, METRIC_SERIES_DROPPED, text("limit=\"processes\""),
			  s->clients->owners.dropped);
	series_add(s->table, s->owner, METRIC_COLLECT_SECONDS, text(NULL), ns);
	series_add(s->table, s->owner, METRIC_SERIES, text(NULL), 0);
}

void self_close(struct self *s)
{
	if (s->stats >= 0)
		close(s->stats);
	free(s->build);
}
