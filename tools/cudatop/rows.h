/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A row for each process: what it did since the report before, or since tracing began. */
#ifndef CUDATOP_ROWS_H
#define CUDATOP_ROWS_H
#include <stdbool.h>
#include "cli/field.h"
#include "cudatop/top_processes.h"
#include "gputime/gpu_time.h"
#include "inflight/inflight.h"
#include "model/launches.h"
#include "model/memory.h"
#include "nccl/communicators.h"
#include "nvml/nvml.h"
#include "proc/cgroup.h"

#define TOP_SORT_WORDS "memory|growth|launches|copies|wait|errors|call|pid|cuda"
enum top_sort { TOP_MEMORY, TOP_GROWTH, TOP_LAUNCHES, TOP_COPIES, TOP_WAIT, TOP_ERRORS, TOP_CALL, TOP_PID, TOP_CUDA, TOP_SORTS };

/* Columns of most texts; levels of a tree that are shown; bytes of what a hint has. */
enum { TOP_TEXT = 16, TOP_DEPTH = 8, HINT_EVIDENCE = 96, HINT_COMMAND = 96 };

struct top_row {
	unsigned long long time;
	double interval;		/* s */
	int pid;
	unsigned long long parent;	/* with tree: pid of the nearest ancestor with a row; OUT_NONE: none */
	int depth;			/* with tree: ancestors with a row */
	char user[16], comm[16], command[TOP_COMMAND];	/* command: "": not known */
	char container[CONTAINER_ID];	/* "": none */
	bool complete;
	bool former;			/* another row has its pid now */
	unsigned long long devices;	/* devices_now of struct top_process */
	unsigned long long held, host, managed;	/* bytes */
	long long growth;		/* of held */
	unsigned long long used;	/* bytes, as NVML reports; OUT_NONE: it does not */
	struct out_print by_gpu;	/* the same by GPU: see gpu_use_json() */
	unsigned long long launches, graphs, estimated, copies, htod, dtoh, bytes, wait_ns, loads, load_ns, errors;
	double growth_rate, launch_rate, htod_rate, dtoh_rate, copy_rate, error_rate, wait_share, load_share;
	unsigned long long images;	/* of loads: of code, not lookups */
	unsigned long long copy_ns;	/* of cuda_ns: copies */
	unsigned long long cuda_ns, busiest_ns;	/* in calls that are no waits and load no code; in those of … */
	const char *busiest;		/* … the function that took most; NULL: none */
	double cuda_share;
	struct top_grown memory_grown, handles_grown, used_grown;	/* that which has grown most of each */
	unsigned long long calls;	/* in flight */
	const char *call;		/* the longest of them; NULL: none */
	unsigned long long call_ns, call_tid;
	int job_rank;			/* of a process that has waited for LIMIT_HANGS_S: its rank in a job of NCCL; -1: it has none */
	unsigned long long gpu_ns;	/* OUT_NONE: not measured */
	double gpu_share;		/* NAN: not measured */
	double gpu_busy;		/* the busiest GPU that it is on, by its own GPU time or NVML, 0 to 1; NAN: unknown */
	const char *hint;		/* set by the tool with the next two: cudatop/hints.h */
	char evidence[HINT_EVIDENCE], next[HINT_COMMAND];	/* next: a command; "": none */
	unsigned long long rank, nranks, behind;	/* in its largest communicator; OUT_NONE: not known */
	/* as text */
	char comm_text[2 * TOP_DEPTH + TOP_COMMAND];	/* with tree: indented */
	char device[TOP_TEXT], held_text[TOP_TEXT], growth_text[TOP_TEXT], host_text[TOP_TEXT], used_text[TOP_TEXT];
	char launch_text[TOP_TEXT], htod_text[TOP_TEXT], dtoh_text[TOP_TEXT], copy_text[TOP_TEXT], error_text[TOP_TEXT];
	char wait_text[TOP_TEXT], cuda_text[TOP_TEXT], load_text[TOP_TEXT], gpu_text[TOP_TEXT], rank_text[64], call_text[64];
};

struct top_rows {
	/* set by the tool */
	struct top_processes processes;
	struct memory memory;
	struct communicators communicators;
	struct inflight inflight;
	struct gpu_time *gpu;		/* NULL: it is not measured */
	struct launches *launches;	/* NULL: they are not counted by kernel */
	struct nvml nvml;
	int sort;			/* enum top_sort */
	bool reverse;
	bool tree;			/* children come after their parents */
	bool names;			/* comm_text is comm, not command */
	/* state */
	unsigned long long began, counted;	/* tracing, the interval; ns */
	double interval;		/* s */
	struct top_row *rows;
	size_t n, room;
	struct top_row sum;		/* of all rows: rates, held, wait_share */
};

/* Reads everything and sets the rows, sorted: of the interval or, if whole, since tracing began. */
void top_rows_gather(struct top_rows *t, bool whole);

/* Returns the row of a process, or NULL. */
const struct top_row *top_row_find(const struct top_rows *t, int pid);

/* Sorts them again. */
void top_rows_sort(struct top_rows *t);

/* The same, as a tree or not. */
void top_rows_set_tree(struct top_rows *t, bool tree);

/* Ends the interval. */
void top_rows_interval(struct top_rows *t);

void top_rows_free(struct top_rows *t);

#endif
