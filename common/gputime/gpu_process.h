/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A process whose GPU time is measured: for gpu_time.c, gpu_records.c and gpu_tallies.c only. */
#ifndef GPUTIME_GPU_PROCESS_H
#define GPUTIME_GPU_PROCESS_H
#include "gputime/gpu_memory.h"
#include "gputime/gpu_state.h"
#include "proc/proc.h"

struct waiting_run {
	struct gputime_record record;
	unsigned long long since;
};

struct gpu_process {
	int pid;
	unsigned user;
	unsigned long long seen, looked, wait;	/* when it was first seen, and looked at; how long until it is again, ns */
	unsigned looks;
	char comm[16];
	struct gpu_memory memory;
	struct gpu_losses losses;	/* since they were last read */
	struct proc_identity is;
	unsigned long long program;	/* when it has ended: as in struct process_event */
	struct gpu_tally *tallies;
	const struct kernel **names;	/* GPUTIME_NAMES, by number - 1; or NULL */
	char *text;			/* a name of which parts have come; GPUTIME_NAME_MAX + GPUTIME_PART + 1 */
	unsigned text_name, text_at;
	struct gpu_calls *calls;	/* if they are wanted */
	struct waiting_run *waiting;	/* for their calls, a ring */
	unsigned room, first, nwaiting;
	bool told, shown;		/* shown: since it has ended */
	bool found, failed;		/* its memory was; and cannot be used */
	bool measured;			/* it was on */
	bool gone;			/* at the last check */
	struct gpu_process *next;	/* of those that have ended */
	UT_hash_handle hh;
};

#endif
