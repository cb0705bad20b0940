/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* --attach inject: the dynamic linker loads the tool's probes into the programs of the command (rtld-audit(7)), which
 * write into maps in memory that they share with the tool: abi/agent_inject.h.  It takes no privilege, and no kernel that can
 * trace. */
#ifndef SESSION_ATTACH_INJECT_H
#define SESSION_ATTACH_INJECT_H
#include "inject/inject_memory.h"
#include "inject/inject_peers.h"

struct bpf_map;
struct bpf_object;
struct record_queue;
struct resident;
struct session;
struct shares;

/* Stands in for the kernel's tracepoints: the same changes of the probes' map of processes, and the same records, as
 * by bpf/lib/processes.bpf.h. */
struct inject_events {
	const struct bpf_map *processes;	/* NULL: the tool's programs have none */
	struct shares *shares;
	struct record_queue *queue;
	bool exec_stays;	/* a process is still reported after exec */
	unsigned long lost;	/* processes for which there was no room */
};

/* A session's, if it is the back end (session/backend.h). */
struct inject {
	char *library;
	struct session *session;
	struct resident *resident;	/* the running programs; NULL: those of a command */
	struct inject_memory memory;
	struct inject_peers peers;
	struct inject_events events;
	const char *left, *ended;	/* programs for a thread that has ended before its process, and for a process; or NULL */
	unsigned long long looked, named, turned;	/* when threads were last checked for it, ns */
	bool asks;		/* running programs to connect, before the tool prints */
	bool read;		/* tried whether programs' memory can be read */
	struct record_queue *queue;
	unsigned printed;	/* messages of programs */
};

void inject_free(struct inject *in);

#endif
