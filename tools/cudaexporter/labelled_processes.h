/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The processes that use CUDA, and the label sets that they count for. */
#ifndef CUDAEXPORTER_LABELLED_PROCESSES_H
#define CUDAEXPORTER_LABELLED_PROCESSES_H
#include <stdbool.h>
#include "base/hash.h"
#include "cudaexporter/label_sets.h"
#include "model/handle_counts.h"
#include "proc/proc.h"

struct device_env;
struct export_seen;

/* One execution of a program in a process. */
struct cuda_process {
	struct cuda_process_key {
		unsigned long long program;	/* as in struct export_seen; 0: it has made no call yet */
		unsigned pid, unused;
	} key;
	struct identity is;
	struct proc_identity proc;
	unsigned user;			/* who is charged */
	unsigned long long made;	/* when it was found, ns */
	bool preexisting;		/* it used CUDA before tracing began */
	bool gone;			/* at the last check */
	bool over;			/* it has ended; its last counts are still to be read */
	struct label_set *set;
	struct handle_counts handles;	/* of the round */
	struct process_text *texts;	/* labels that its series have */
	unsigned ntexts;
	unsigned communicators;		/* with series of their own */
	struct device_env *env;		/* freed with it; NULL: not read yet … */
	bool no_env;			/* … or it cannot be read */
	UT_hash_handle hh, hh_pid;
};

struct processes {
	struct label_sets sets;
	void (*ended)(void *ctx, int pid);
	void *ctx;
	struct left_out *left_out;	/* processes that a filter leaves out */
	struct cuda_process *all, *by_pid;	/* by_pid: those that live */
	unsigned over;			/* number of processes with over set */
};

/* Call when sets is initialized.  ended: called when the program of a process has ended. */
void processes_init(struct processes *c, void (*ended)(void *ctx, int pid), void *ctx);
void processes_free(struct processes *c);

/* Return the process that has this pid now, and add it if need be: one that has mapped CUDA; one that made its first
 * call, with the name and user that the kernel reports. */
struct cuda_process *processes_mapped(struct processes *c, int pid);
struct cuda_process *processes_seen(struct processes *c, const struct export_seen *seen);

/* Returns the process that made the counts that are being read.  Adds one that is not known yet; that ends the program
 * which ran before under this pid.  An added process whose pid a newer program has is over.  NULL if the process has
 * ended and the record with its name is still to come. */
struct cuda_process *processes_admit(struct processes *c, int pid, unsigned long long program);

/* Returns the process that runs, or ran, the program; NULL: it is not known. */
struct cuda_process *processes_known(const struct processes *c, int pid, unsigned long long program);

/* Returns the live process with this pid, or NULL. */
struct cuda_process *processes_find(const struct processes *c, int pid);

/* Call when it has ended: it is over, until processes_reap(). */
void processes_end(struct processes *c, struct cuda_process *process);

/* Ends processes that ended without a record; thorough: checks all. */
void processes_check(struct processes *c, bool thorough);

/* Call for a process that uses CUDA and that a filter leaves out. */
void processes_leave_out(struct processes *c, int pid);

/* Returns the number of processes left out. */
unsigned processes_left_out(const struct processes *c);

/* Frees the processes that are over: their counts have been read. */
void processes_reap(struct processes *c);

/* Sets an info metric of the process to 1.  Takes over the labels, as they are printed. */
void process_show(struct cuda_process *process, enum metric m, char *labels);

/* Does it with the labels that process_show() got for the metric before; returns false if there are none. */
bool process_shown(struct cuda_process *process, enum metric m);

#endif
