/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A BPF program that runs on each CPU now and then. */
#ifndef PROBE_CPU_SAMPLES_H
#define PROBE_CPU_SAMPLES_H
#include <stdbool.h>

struct bpf_link;
struct bpf_program;

struct cpu_samples {			/* starts zeroed */
	struct bpf_link **links;
	int n;
};

/* Return true if programs of perf events may use hash maps that grow as needed: these do not allocate there since Linux 6.1.
 * Otherwise the program must not be loaded. */
bool cpu_samples_can(void);

/* Runs the program on each CPU every so many ns, unless it is idle.  Returns 0, or the error of a CPU where that failed: s->n is
 * not 0 if others run it. */
int cpu_samples_begin(struct cpu_samples *s, const struct bpf_program *program, unsigned long long ns);
void cpu_samples_end(struct cpu_samples *s);

#endif
