/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "cudaexporter/gpu_counts.h"
#include "cudaexporter/kernel_counts.h"
#include "session/session.h"

/* Between two pages.  The program writes the times: its sums stay small enough that those of others in a series are not
 * lost in them. */
static const unsigned long long NS_MAX = 1ull << 50;

struct reading {
	struct kernel_counts *kernels;
	const struct processes *processes;
	bool only_over;
};

void gpu_counts_open(struct gpu_counts *c, struct session *session)
{
	if (!c->wanted)
		return;
	c->time.want = GPUTIME_KERNELS | GPUTIME_COPIES;
	gpu_time_open(&c->time, &session->processes);
	if (session->command)
		gpu_time_begin(&c->time);
}

void gpu_counts_close(struct gpu_counts *c)
{
	if (c->wanted)
		gpu_time_close(&c->time);
}

void gpu_counts_tick(struct gpu_counts *c)
{
	if (c->wanted)
		gpu_time_tick(&c->time);
}

/* Returns the id of the program; 0: it has made no call that was seen. */
static unsigned long long gpu_counts_program_of(const struct reading *r, const struct gpu_tally *t)
{
	const struct cuda_process *process;

	if (t->ended)
		return t->program;
	process = processes_find(r->processes, t->pid);
	return process ? process->key.program : 0;
}

/* Keeps a live program's earlier work until its first call is seen. */
static bool gpu_counts_take(void *ctx, const struct gpu_tally *t)
{
	const struct reading *r = ctx;
	const unsigned long long id = r->only_over && !t->ended ? 0 : gpu_counts_program_of(r, t);
	const unsigned long long ns = t->pending.ns < NS_MAX ? t->pending.ns : NS_MAX;
	struct kernel_execution *p;

	if (!id)
		return t->ended;
	p = kernel_counts_program(r->kernels, id, t->pid, t->user);
	p->changed = true;
	if (t->key.kind == GPUTIME_KERNEL)
		kernel_execution_ran(&r->kernels->naming, p, t->key.kernel, ns);
	else if (t->key.kind == GPUTIME_GRAPH)
		p->gpu.graphs += ns;
	else if (t->key.kind == GPUTIME_COPY)
		p->gpu.copies[t->key.direction <= CUDA_DEFAULT ? t->key.direction : CUDA_DEFAULT] += ns;
	return true;
}

void gpu_counts_read(struct gpu_counts *c, struct kernel_counts *kernels, const struct processes *processes, bool only_over)
{
	struct reading r = { .kernels = kernels, .processes = processes, .only_over = only_over };

	if (!c->wanted)
		return;
	if (!only_over)
		gpu_time_tick(&c->time);	/* the last page is made after the last tick */
	gpu_time_take(&c->time, gpu_counts_take, &r);
}
