/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The processes that use CUDA, with what they have done so far and until the report before. */
#ifndef CUDATOP_TOP_PROCESSES_H
#define CUDATOP_TOP_PROCESSES_H
#include <stdbool.h>
#include <stddef.h>
#include "api/cuda_api.h"
#include "base/hash.h"
#include "base/quota.h"
#include "cudatop/command_line.h"
#include "cudatop/growth.h"
#include "model/export_maps.h"
#include "proc/proc.h"

struct device_env;
struct gpu_use;
struct helper_pool;
struct probe_budget;
struct process_event;
struct process_table;

/* Since tracing began. */
struct top_counts {
	unsigned long long launches, graphs;	/* graphs: of launches, those of CUDA graphs */
	unsigned long long estimated;		/* of launches: those that were not seen, with --max-overhead */
	unsigned long long copies[CUDA_DEFAULT + 1], bytes[CUDA_DEFAULT + 1];	/* by enum cuda_direction */
	unsigned long long waits, wait_ns;	/* wait_ns: with waits that have not returned */
	unsigned long long loads, load_ns;	/* of code; load_ns: with calls that have not returned, and time in compilers */
	unsigned long long images;	/* of loads: code that was loaded */
	unsigned long long errors;
	unsigned long long held;	/* bytes, on devices: now */
	struct handle_counts handles;
};

/* Kinds of counts of the one process that is shown in detail. */
struct top_part {
	struct export_key key;
	unsigned long long count, bytes, ns;
};

struct top_error {
	unsigned id;			/* of cuda_error_source() */
	int ret;
	unsigned long long n;
};

enum { DETAIL_PARTS = 256, DETAIL_ERRORS = 64 };

struct top_detail {
	int pid;			/* 0: none is shown */
	unsigned nparts, nerrors;
	struct top_part parts[DETAIL_PARTS];
	struct top_error errors[DETAIL_ERRORS];
};

/* Calls of one function that are no waits, and load no code: their time. */
struct top_function {
	const char *name;		/* static */
	unsigned long long ns, before;	/* so far; until the report before */
	unsigned long long sampled;	/* of ns: of samples, where it is not probed */
};

enum { TOP_FUNCTIONS = 256 };		/* of a process; more are not kept */

struct top_process {
	int pid;
	unsigned long long program;	/* one execution of a program in it; 0: it has made no call yet */
	char comm[16];			/* of its first thread */
	char command[TOP_COMMAND];	/* "": not known */
	char user[16];			/* name of its user in /etc/passwd, or the number */
	unsigned uid, charged;		/* charged: see proc_user() */
	struct proc_identity is;
	bool over;			/* it has ended; its last counts are still to be read */
	bool gone;			/* at the last check */
	unsigned long long devices;	/* bit n: it launched on device n, or holds memory there */
	unsigned long long devices_now;	/* these, and those on which NVML reports it, or that it can only be on */
	struct gpu_use *use;		/* cudatop/gpu_use.h; NULL: NVML has not reported it, … */
	struct device_env *env;		/* … its environment was not needed */
	bool no_env;			/* it cannot be read */
	struct top_counts now, before;
	unsigned long long compile_ns;	/* in compilers that are no calls, sampled */
	struct top_function *functions;
	unsigned nfunctions, functions_room;
	bool job_read;
	int job_rank;			/* by its environment, if NCCL is there; -1: none; set if job_read */
	bool waits_kept, loads_kept;	/* see rows.c: the time of the report before was kept */
	size_t row;			/* of the last report: see rows.c */
	int parent;			/* pid, as last read; 0: unknown */
	struct top_growth growth[TOP_GROWS];
	UT_hash_handle hh;
};

struct top_processes {
	struct process_table *table;	/* the session's */
	struct helper_pool *helpers;
	struct export_maps maps;
	struct probe_budget *budget;	/* has estimates of launches */
	struct top_process *all;	/* by pid; for HASH_ITER(hh, ...), as are … */
	struct top_process *former;	/* … those whose pid another one has taken in this interval, by program: they are over */
	struct quota quota;
	struct top_detail detail;
	unsigned long long checked;	/* whether they live, ns */
};

/* Call when maps, budget, table and helpers are set. */
void top_processes_open(struct top_processes *t);
void top_processes_free(struct top_processes *t);

struct top_process *top_process_find(const struct top_processes *t, int pid);

/* Returns the one that runs, or ran, the program; else the one that has the pid now. */
struct top_process *top_process_of(const struct top_processes *t, int pid, unsigned long long program);

/* Call for a process that has mapped CUDA. */
void top_process_mapped(struct top_processes *t, int pid);

/* Call for the record of a program's first call. */
void top_process_seen(struct top_processes *t, const struct export_seen *seen);

/* Call when a process has ended or runs another program (proc/process_table.h); t is a struct top_processes *. */
void top_process_ended(void *t, const struct process_event *event);

/* Adds the time of calls of a function, until top_processes_read(); the name must be static. */
void top_process_call(struct top_process *p, const char *name, unsigned long long ns);

/* The same for good: of a sample. */
void top_process_sample(struct top_process *p, const char *name, unsigned long long ns);

/* Likewise of a sample in a compiler. */
void top_process_compiles(struct top_process *p, unsigned long long ns);

/* Sets now, except for what is not in the probes' maps: calls in flight and memory. */
void top_processes_read(struct top_processes *t);

/* Call after a report: what was done until now was done before; drops those that are over. */
void top_processes_interval(struct top_processes *t);

#endif
