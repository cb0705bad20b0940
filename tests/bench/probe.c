/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* probe PROGRAMS KIND PID FILE[,FILE] FUNCTION[:entry]...: the baseline of the tools.  Attaches
 * programs to functions of the files, in one process, and prints "N attached NS": N probes in NS
 * nanoseconds; at the end of standard input detaches them and prints "detached NS, LOST of RECORDS
 * lost".  PROGRAMS: empty, time or record, those of reference.bpf.c; or common, those of
 * common.bpf.c.  FUNCTION:entry: without a return probe.  A number N as FUNCTION stands for the
 * first N functions that the tools know. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "probe/attach.h"
#include "base/clock.h"
#include "api/cuda_fn.h"
#include "base/die.h"
#include "elf/elf.h"
#include "reference.h"
#include "common.skel.h"
#include "reference.skel.h"

static const char *const levels[] = { "empty", "time", "record", NULL };

static struct attacher pairs, entries;	/* programs */
static struct attachment *attached[8];
static int nattached, nprobes;
static struct ring_buffer *records;
static unsigned long long nrecords, *lost;
static bool wakes;	/* each record wakes the reader */

static int on_record(void *ctx, void *data, size_t size)
{
	(void)ctx, (void)data, (void)size;
	nrecords++;
	return 0;
}

static void *read_records(void *unused)
{
	while (wakes)
		ring_buffer__poll(records, -1);
	for (;;) {
		ring_buffer__consume(records);
		usleep(10000);
	}
	return unused;
}

static void read_from(const struct bpf_map *map)
{
	pthread_t reader;

	records = ring_buffer__new(bpf_map__fd(map), on_record, NULL, NULL);
	if (!records)
		die(errno, "cannot read records");
	if (pthread_create(&reader, NULL, read_records, NULL))
		die(0, "cannot start a thread");
}

static struct bpf_object *load_reference(enum attach_kind kind, int level, bool entries_only)
{
	struct reference_bpf *skel = reference_bpf__open();

	if (!skel)
		die(errno, "cannot open the programs");
	skel->rodata->level = level;
	skel->rodata->entries_only = entries_only;
	attach_prepare(skel->obj, kind);
	if (reference_bpf__load(skel))
		die(errno, "cannot load the programs");
	if (level == REFERENCE_RECORD && !entries_only)
		read_from(skel->maps.events);
	return skel->obj;
}

static struct bpf_object *load_common(enum attach_kind kind)
{
	struct common_bpf *skel = common_bpf__open();

	if (!skel)
		die(errno, "cannot open the programs");
	attach_prepare(skel->obj, kind);
	if (common_bpf__load(skel))
		die(errno, "cannot load the programs");
	lost = (unsigned long long *)&skel->bss->lost;
	wakes = true;
	read_from(skel->maps.events);
	return skel->obj;
}

static void load(const char *programs, enum attach_kind kind)
{
	int level = 0;

	pairs.kind = entries.kind = kind;
	if (!strcmp(programs, "common")) {
		pairs.obj = entries.obj = load_common(kind);
		return;
	}
	while (levels[level] && strcmp(levels[level], programs))
		level++;
	if (!levels[level])
		die_status(EXIT_USAGE, 0, "%s: empty, time, record or common", programs);
	pairs.obj = load_reference(kind, level, false);
	entries.obj = load_reference(kind, level, true);
}

/* Selects the functions of this file that the command line names, with or without their return.
 * common.bpf.c probes a function at its start. */
static int choose(char **functions, const struct elf_scan *scan, bool entry, struct elf_probe *chosen)
{
	char name[128];
	int n = 0, most;

	for (char **f = functions; *f; f++) {
		most = atoi(*f);
		for (int i = 0; i < scan->n; i++) {
			snprintf(name, sizeof(name), "%s%s", cuda_fns[scan->probes[i].id].name,
				 entry ? ":entry" : "");
			if (most ? entry || nprobes + n >= most : strcmp(*f, name))
				continue;
			chosen[n] = scan->probes[i];
			chosen[n].returns = !entry;
			if (wakes)
				chosen[n].offset = chosen[n].symbol;
			n++;
		}
	}
	return n;
}

static void attach(struct attacher *to, int fd, int pid,
		   const struct elf_probe *probes, int n)
{
	if (!n)
		return;
	attached[nattached] = attach_file(to, fd, pid, probes, n);
	if (!attached[nattached++])
		die(errno, "cannot attach");
	nprobes += n;
}

static int find(const void *ctx, const char *symbol)
{
	(void)ctx;
	return cuda_fn_find(symbol);
}

static void probe_file(const char *path, int pid, char **functions)
{
	struct elf_probe chosen[CUDA_ID_MAX];
	struct elf_scan scan;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		die(errno, "%s", path);
	elf_scan(fd, find, NULL, &scan);
	if (scan.error)
		die(0, "%s: %s", path, scan.error);
	attach(&pairs, fd, pid, chosen, choose(functions, &scan, false, chosen));
	attach(&entries, fd, pid, chosen, choose(functions, &scan, true, chosen));
	free(scan.probes);
	close(fd);
}

int main(int argc, char **argv)
{
	enum attach_kind kind = ATTACH_SESSION;
	unsigned long long start;
	char *path;

	if (argc < 6)
		die_status(EXIT_USAGE, 0, "PROGRAMS KIND PID FILE[,FILE] FUNCTION[:entry]...");
	while (kind < ATTACH_PERF && strcmp(argv[2], attach_name(kind)))
		kind++;
	load(argv[1], kind);
	start = clock_ns();
	for (path = strtok(argv[4], ","); path; path = strtok(NULL, ","))
		probe_file(path, atoi(argv[3]), argv + 5);
	printf("%d attached %llu\n", nprobes, clock_ns() - start);
	fflush(stdout);
	while (getchar() != EOF)
		;
	start = clock_ns();
	while (nattached)
		attach_remove(attached[--nattached]);
	printf("detached %llu, %llu of %llu lost\n", clock_ns() - start, lost ? *lost : 0,
	       nrecords + (lost ? *lost : 0));
	fflush(stdout);
	_exit(0);
}
