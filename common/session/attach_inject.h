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

/* What the kernel's tracepoints report otherwise: the same changes of the probes' map of processes, and the same records, as
 * by bpf/lib/processes.bpf.h. */
struct inject_events {
	const struct bpf_map *processes;	/* NULL: the tool's programs have none */
	struct shares *shares;
	struct record_queue *queue;
	bool exec_stays;	/* a process is still reported after exec */
	unsigned long lost;	/* processes for which there was no room */
};

/* A session's; made by session_choose_backend(). */
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

/* Returns NULL if the command can be traced so, and the library in *library; else why not.  The caller frees both. */
char *inject_refusal(struct session *t, char **library);

/* The same of the running programs of -p, which are then in *resident. */
char *inject_pids_refusal(const struct session *t, char **library, struct resident **resident);

/* The same of all running programs of a user, --uid's or the tool's, and of those that it starts later. */
char *inject_all_refusal(const struct session *t, char **library, struct resident **resident);

/* Call instead of loading it: makes the maps. */
void inject_load(struct inject *in, struct bpf_object *obj);

/* Opens the ring buffer. */
void inject_open_queue(struct inject *in, struct record_queue *q, const struct bpf_map *ring);

/* Call before command_go(): listens, and has the command's dynamic linker load the library; or asks the running programs to connect,
 * and waits a little for it: every call that they begin from then on is traced. */
void inject_begin(struct inject *in, const struct bpf_object *obj);

/* Returns a descriptor that is readable when there is something to do, and does that. */
int inject_fd(const struct inject *in);
void inject_serve(struct inject *in);

/* Return true if it is to be called again soon. */
bool inject_is_busy(const struct inject *in);

/* Sends the command and its processes a signal. */
void inject_signal(const struct inject *in, int sig);

/* The probes do nothing any more.  Sends the command, if there is one, and its processes a signal, unless 0. */
void inject_end(struct inject *in, int sig);

void inject_free(struct inject *in);

#endif
