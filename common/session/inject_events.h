/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* With --attach inject, what the kernel's tracepoints of processes tell otherwise: the same changes of the probes' map of
 * processes, and the same records, as by bpf/lib/processes.bpf.h. */
#ifndef INJECT_EVENTS_H
#define INJECT_EVENTS_H
#include <stdbool.h>

struct bpf_map;
struct bpf_object;
struct record_queue;
struct shares;

struct inject_events {
	const struct bpf_map *processes;	/* NULL: the tool's programs have none */
	struct shares *shares;
	struct record_queue *queue;
	bool exec_stays;	/* a process is still reported after exec */
	unsigned long lost;	/* processes for which there was no room */
};

/* Call once the maps are there; queue is where records go, behind those that are in it. */
void inject_events_open(struct inject_events *e, const struct bpf_object *obj, struct record_queue *queue);

/* Call when all records that came before are in the queue. */
void inject_events_forked(struct inject_events *e, int pid, int parent);
void inject_events_execed(struct inject_events *e, int pid);
void inject_events_exited(struct inject_events *e, int pid);

#endif
