/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The time of calls of CUDA that are not timed by probes, by function: running threads are sampled.  Functions that return quickly
 * are called millions of times a second, and a probe would slow them down many times. */
#ifndef CUDATOP_SAMPLES_H
#define CUDATOP_SAMPLES_H
#include <stdbool.h>
#include <stddef.h>
#include "probe/cpu_samples.h"

struct bpf_map;
struct bpf_program;
struct helper_pool;
struct syms;
struct top_processes;

struct top_samples {
	/* set first; the caller owns them */
	struct syms *syms;
	struct helper_pool *helpers;
	struct top_processes *processes;
	const struct bpf_map *code;	/* call_code of bpf/lib/call_samples.bpf.h */
	/* private */
	struct cpu_samples cpus;
};

/* Call when the programs are loaded.  Warns if that fails. */
void top_samples_begin(struct top_samples *s, const struct bpf_program *program);
void top_samples_end(struct top_samples *s);

/* Call after each scan of a process that has mapped CUDA: reads where its libraries are; when it has ended. */
void top_samples_process(struct top_samples *s, int pid);
void top_samples_ended(struct top_samples *s, int pid);

/* Takes a record; returns false if it is another one. */
bool top_samples_record(struct top_samples *s, const void *data, size_t size);

#endif
