/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Launches by kernel: from the probes' maps and records to series. */
#ifndef CUDAEXPORTER_KERNEL_COUNTS_H
#define CUDAEXPORTER_KERNEL_COUNTS_H
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include "abi/cudaexporter.h"
#include "abi/launch.h"
#include "api/cuda_api.h"
#include "base/hash.h"
#include "base/quota.h"
#include "cudaexporter/labelled_processes.h"
#include "kernels/kernel_name.h"
#include "model/captures.h"

struct bpf_map;
struct launches;
struct profiles;
struct shares;
struct process_event;
struct syms;

/* The bytes of a name, and of '#' and the hash after a truncated one. */
enum { KERNEL_LABEL_TEXT = 120, KERNEL_LABEL_HASH = 9,
       KERNEL_LABEL_SIZE = KERNEL_LABEL_TEXT + KERNEL_LABEL_HASH + 1 };

/* --kernel-map.  Starts zeroed. */
struct label_map {
	struct kernel_rule { regex_t expression; const char *name; } *rules;
	size_t n;
};

/* The label of kernels, kernel="...", as it is printed: each text once. */
struct kernel_text {
	unsigned uses;		/* by kernels of programs */
	bool shown;		/* by a series */
	unsigned user;		/* who is charged */
	size_t cost;
	UT_hash_handle hh;
	char labels[];
};

/* How often a kernel is launched before it gets a series. */
enum { KERNEL_LAUNCHES = 1000 };

/* Graph-launch counts since the last export. */
struct graph_counts {
	unsigned long long launches[2];		/* of graphs whose nodes are not known, and are */
	unsigned long long nodes[NODE_KIND_MAX];
	struct { unsigned long long n, bytes, sizes[EXPORT_SIZES]; } copies[CUDA_DEFAULT + 1];
};

/* The time on the GPU that is not shown yet, without that of kernels, ns. */
struct gpu_sums {
	unsigned long long graphs, copies[CUDA_DEFAULT + 1];
};

/* The kernels of one program, by their labels. */
struct kernel_execution {
	unsigned long long id;
	unsigned user;			/* who is charged */
	int pid;
	unsigned named;			/* kernels with a series */
	unsigned long long other;	/* launches of kernels without a series, not shown yet … */
	unsigned long long other_ns;	/* … and their time on the GPU */
	struct gpu_sums gpu;
	bool changed;
	struct kernel_name *names;	/* by text */
	struct kernel_called *called;	/* by struct kernel */
	struct graph_counts *graphs;	/* NULL: none */
	UT_hash_handle hh;
};

/* Shared by all programs. */
struct kernel_naming {
	struct label_map map;		/* --kernel-map */
	long most;			/* --kernels: series of a program */
	int style;			/* --kernel-names: enum kernel_style; -1: names without arguments of templates */
	struct quota quota;		/* of bytes, by user */
	struct kernel_text *texts;	/* by their labels */
	struct kernel_text *other;	/* of kernels without a series */
	unsigned long long until;	/* deadline for naming kernels, ns … */
	struct budget time;		/* … and each user's share of that time */
};

struct kernel_counts {
	struct kernel_naming naming;	/* map and most are set first; most 0: counts nothing */
	struct captures captures;	/* set first */
	struct profiles *profiles;	/* set first: launches are added, with their stacks; NULL: none are wanted */
	struct launches *launches;
	struct kernel_execution *programs;
	struct capturing *capturing;	/* programs that have captured graphs */
	bool said;			/* that graphs are not followed */
};

/* Call after the maps of bpf/lib/launch_counts.bpf.h are made; they and syms must outlive k. */
void kernel_counts_open(struct kernel_counts *k, struct syms *syms, const struct bpf_map *counts,
			const struct bpf_map *quick, struct shares *shares);
void kernel_counts_free(struct kernel_counts *k);

/* Call when everything is attached: records the kernels of programs that already run. */
void kernel_counts_scan(struct kernel_counts *k);

/* Call when a process has ended or runs another program (proc/process_table.h); k is a struct kernel_counts *. */
void kernel_counts_ended(void *k, const struct process_event *event);

/* Handles the records of launches and of forks.  Returns true for a record of launches, which needs no further
 * handling. */
bool kernel_counts_record(struct kernel_counts *k, const void *data, size_t size);

/* Call every few milliseconds. */
void kernel_counts_tick(struct kernel_counts *k);

/* Reads what was counted since the last time. */
void kernel_counts_read(struct kernel_counts *k);

/* Returns the program, added if need be, for what others count. */
struct kernel_execution *kernel_counts_program(struct kernel_counts *k, unsigned long long id, int pid, unsigned user);

/* Adds to the series what was read; call before processes that are over are freed.  only_over: shows those only, because
 * no page is made. */
void kernel_counts_show(struct kernel_counts *k, struct processes *processes, bool only_over);

/* Writes the label of a kernel, the same in each run: its name in a style (enum kernel_style), or if that is -1 without
 * arguments of templates, because thousands of kernels differ in these only: "fill" for "fill<int>".  A name longer than
 * KERNEL_LABEL_TEXT is truncated at a character's beginning, and a hash of all of it follows.  Bytes are the
 * program's, to be escaped. */
void kernel_label(char label[KERNEL_LABEL_SIZE], const struct kernel *kernel, int style);

/* Adds "RE=NAME": kernels whose name matches RE, a POSIX extended regular expression, are called NAME.  The last '='
 * separates them.  Exits 2 on anything else.  The text must outlive the map. */
void label_map_add(struct label_map *map, const char *text);
void label_map_free(struct label_map *map);

/* Returns the name by the first rule that matches, or NULL.  The map owns it. */
const char *label_map_find(const struct label_map *map, const char *full);

/* Call when map, most and quota are set. */
void kernel_naming_init(struct kernel_naming *n);

/* Frees the texts that no kernel and no series of METRIC_KERNEL_LAUNCHES uses. */
void kernel_naming_reap(struct kernel_naming *n, const struct series_table *table);
void kernel_naming_free(struct kernel_naming *n);

/* Adds launches of a kernel; NULL: of an unknown one. */
void kernel_execution_count(struct kernel_naming *n, struct kernel_execution *p, const struct kernel *kernel,
			  unsigned long long launches);

/* Adds the time that a kernel ran on the GPU, likewise. */
void kernel_execution_ran(struct kernel_naming *n, struct kernel_execution *p, const struct kernel *kernel,
			  unsigned long long ns);

/* Shows what was added since the last time: gives series to the kernels with enough launches, the one with the most
 * first, and adds to the series of the set. */
void kernel_execution_show(struct kernel_naming *n, struct kernel_execution *p, struct label_set *set);

/* Frees what the program has, but not the program. */
void kernel_execution_clear(struct kernel_naming *n, struct kernel_execution *p);

#endif
