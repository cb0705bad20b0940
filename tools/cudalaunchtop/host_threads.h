/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Time of launching threads between launches, by bpf/lib/host_time.bpf.h: which of it filled a time. */
#ifndef CUDALAUNCHTOP_HOST_THREADS_H
#define CUDALAUNCHTOP_HOST_THREADS_H
#include <stdbool.h>
#include <stddef.h>
#include "base/quota.h"
#include "probe/cpu_samples.h"

struct bpf_program;
struct gpu_launch;
struct host_thread;
struct process_event;
struct process_table;
struct stack;
struct syms;

enum host_state { HOST_IS_OFF, HOST_IS_PREEMPTED, HOST_RUNS, HOST_UNKNOWN, HOST_STATES };

/* As text. */
extern const char *const host_state_names[HOST_STATES];

/* Starts zeroed. */
struct host_threads {
	bool switches, samples;		/* the programs run; without them what threads do is unknown */
	/* for each copy and memset, before what follows it: as gpu_time_launched() */
	void (*on_call)(void *ctx, int pid, const struct gpu_launch *call);
	void *ctx;
	/* state */
	struct syms *syms;
	struct process_table *processes;
	struct host_thread *all;
	struct quota quota;		/* bytes */
	struct cpu_samples cpus;
};

/* Return true if the kernel can run both programs; otherwise warns why not, and they must not be loaded.  inject: with
 * --attach inject. */
bool host_threads_can(bool inject);

/* Call when the programs are loaded: begins to sample. */
void host_threads_open(struct host_threads *h, struct syms *syms, struct process_table *processes, struct bpf_program *sample);

/* Takes a record; returns false if it is another one. */
bool host_threads_record(struct host_threads *h, const void *data, size_t size);

/* A time of a thread, CLOCK_MONOTONIC, ns; site: where it ended, of which there may be no sample; NULL: not known. */
struct host_span {
	int pid, tid;			/* tid: 0 if it is not known */
	unsigned long long from, to;
	const struct stack *site;
};

/* Calls fn for each part of it.  Parts without a record are where the samples are; without any, they are at the site. */
typedef void host_part_fn(void *ctx, enum host_state state, const struct stack *stack, unsigned long long ns);
void host_threads_split(const struct host_threads *h, const struct host_span *span, host_part_fn *fn, void *ctx);

/* Call now and then: drops threads that have been silent for long. */
void host_threads_tidy(struct host_threads *h);

/* Call when a process has ended (proc/process_table.h); h is a struct host_threads *. */
void host_threads_ended(void *h, const struct process_event *event);

void host_threads_close(struct host_threads *h);

#endif
