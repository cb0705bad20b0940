/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "abi/device.h"
#include "abi/call_filter.h"
#include "base/die.h"
#include "model/launches.h"
#include "abi/python_frames.h"
#include "cudalaunchtop.skel.h"
#include "models.h"
#include "bpf/bpf_mmap.h"

enum { PID = 1009, CHILD_PID = 1013, PROGRAM = 1, CHILD = 2, TURNS = 101, SLOTS = 4 };
enum { NAMED = 0x1000, QUICK = 0x2000 };	/* the same addresses in both models */

/* Input of one model: names of the kernels at the addresses, and how often they are launched. */
struct feed {
	const char *named, *quick;	/* quick: NULL: not reported */
	int launches, failed, in_array, by_child;
};

struct model {
	struct cudalaunchtop_bpf *skel;
	struct launches *launches;
};

/* The probes' maps without the probes. */
static struct model model_new(void)
{
	struct model m = { .skel = cudalaunchtop_bpf__open() };
	struct bpf_program *prog;

	if (!m.skel)
		die(errno, "cannot open the BPF programs");
	bpf_object__for_each_program(prog, m.skel->obj)
		bpf_program__set_autoload(prog, false);
	bpf_mmap_per_cpu(m.skel->maps.quick, SLOTS);
	if (cudalaunchtop_bpf__load(m.skel))
		die(errno, "cannot make the maps");
	m.launches = launches_new(NULL, m.skel->maps.counts, m.skel->maps.quick,
				  &m.skel->bss->counts_shares, false);
	return m;
}

static void model_free(struct model *m)
{
	launches_free(m->launches);
	cudalaunchtop_bpf__destroy(m->skel);
}

static struct launch_key key_of(bool child, unsigned long long func)
{
	return (struct launch_key){
		.program = child ? CHILD : PROGRAM, .func = func, .pid = child ? CHILD_PID : PID,
	};
}

static void tell(struct model *m, bool child, enum launch_what kind, unsigned long long subject,
		 unsigned long long object, const char *name)
{
	struct { struct launch_event e; char name[32]; } record = {
		.e = { .head = { .kind = kind }, .key = key_of(child, 0), .subject = subject,
		       .object = object, .comm = "models" },
	};

	snprintf(record.name, sizeof(record.name), "%s", name ?: "");
	launches_record(m->launches, &record, sizeof(record));
}

static void tell_process(struct model *m, bool child, int kind)
{
	const struct launch_key key = key_of(child, 0);
	const struct process_event e = {
		.head = { .pid = key.pid, .kind = kind }, .program = key.program,
		.parent_program = PROGRAM, .comm = "models",
	};

	if (kind == RECORD_FORK)
		launches_record(m->launches, &e, sizeof(e));
	else
		launches_ended(m->launches, &e);
}

/* Counts a launch as the probes do: in the hash map. */
static void count(struct model *m, bool child, unsigned long long func, int launches, bool failed)
{
	const struct launch_key key = key_of(child, func);
	int map = bpf_map__fd(m->skel->maps.counts);
	struct launch_count value = { 0 };

	bpf_map_lookup_elem(map, &key, &value);
	value.launches += launches;
	value.unreported = true;
	value.failed += failed;
	if (bpf_map_update_elem(map, &key, &value, BPF_ANY))
		die(errno, "cannot count");
}

static void count_in_array(struct model *m)
{
	const struct launch_key key = key_of(false, QUICK);
	struct launch_slot *slot = &m->launches->counters.quick[launch_place(&key) % SLOTS];

	count(m, false, QUICK, 0, false);	/* every key is in the hash map too */
	slot->key = key;
	slot->slot.state = SLOT_TAKEN;
	slot->count.launches++;
}

/* Feeds the launches of one turn: one of each kind, until each has had its number. */
static void feed(struct model *m, const struct feed *feed, int turn)
{
	if (!turn) {
		tell(m, false, LAUNCH_NAMED, NAMED, 0, feed->named);
		if (feed->quick)
			tell(m, false, LAUNCH_NAMED, QUICK, 0, feed->quick);
		tell_process(m, true, RECORD_FORK);
		tell(m, false, LAUNCH_MADE, 0, 0, NULL);	/* a program can write it where no probe does */
	}
	if (turn < feed->launches)
		count(m, false, NAMED, 1, turn < feed->failed);
	if (turn < feed->in_array)
		count_in_array(m);
	if (turn < feed->by_child)
		count(m, true, NAMED, 1, false);
	if (turn % 7 == 0)
		launches_count(m->launches);
}

static void print(const struct model *m, int number)
{
	struct launch_row *rows;
	size_t n;

	launches_count(m->launches);
	rows = launches_rows(m->launches, LAUNCHES_BY_BRIEF, &n);
	for (size_t i = 0; i < n; i++) {
		printf("{\"model\":%d,\"pid\":%d,", number, rows[i].pid);
		if (rows[i].kernel)
			printf("\"kernel\":\"%s\",", rows[i].kernel->brief);
		else
			printf("\"kernel\":\"0x%llx\",", rows[i].func);
		printf("\"launches\":%llu,\"failed\":%llu}\n", rows[i].total.launches, rows[i].total.failed);
	}
	printf("{\"model\":%d,\"total\":%llu}\n", number, launches_total(m->launches));
	free(rows);
}

void models_launches(void)
{
	const struct feed feeds[] = {
		{ .named = "_Z4axpyPf", .quick = "_Z4gemmPf", .launches = 101, .failed = 3, .in_array = 23,
		  .by_child = 7 },
		{ .named = "_Z7softmaxPf", .launches = 47, .failed = 5, .in_array = 61, .by_child = 19 },
	};
	struct model models[] = { model_new(), model_new() };

	for (int turn = 0; turn < TURNS; turn++)
		for (int i = 0; i < 2; i++)
			feed(&models[i], &feeds[i], turn);
	print(&models[0], 1);
	print(&models[1], 2);
	tell_process(&models[0], false, RECORD_EXIT);
	tell_process(&models[0], true, RECORD_EXIT);
	launches_count(models[0].launches);
	print(&models[0], 4);
	model_free(&models[0]);
	print(&models[1], 3);
	model_free(&models[1]);
}
