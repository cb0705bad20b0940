/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The back ends: the ways by which a tool's probes get into the programs that it traces.  backend.c has the table of them,
 * and chooses; a back end's functions are in attach_kernel.c, attach_inject.c or attach_gpuprobe.c. */
#ifndef SESSION_BACKEND_H
#define SESSION_BACKEND_H
#include <stdbool.h>
#include "probe/attach.h"

struct bpf_map;
struct bpf_object_skeleton;
struct failure;
struct session;

/* Events that the loop waits for. */
struct backend_wait {
	int records;	/* a descriptor: the ring buffer's; -1: it is not to be read now */
	int wake;	/* another descriptor, or -1 */
	int ms;		/* at most */
	bool last;	/* nothing is awaited any more: only what is there already is handled */
};

/* The functions are called in this order; those without a remark may be NULL. */
struct backend {
	const char *name;
	enum attach_kind kind;
	bool kernel;		/* the kernel runs the programs, those at tracepoints, too */
	bool falls_back;	/* takes the place of one before it that was refused, with a note */
	bool reads_late;	/* the last report is made once drain() has read what was on its way */

	/* Returns true if the options leave it possible.  Never NULL. */
	bool (*suits)(const struct backend *b, const struct session *t);
	/* Sets *f to the reason if it cannot trace here; else it is prepared, and chosen.  Never NULL. */
	void (*refuse)(const struct backend *b, struct session *t, struct failure *f);
	/* Makes the maps, and has the programs ready to run.  NULL: there are no such programs. */
	void (*load)(struct session *t, struct bpf_object_skeleton *skel);
	/* Opens t->records, for this ring buffer or NULL.  NULL: the kernel has the buffer. */
	void (*open)(struct session *t, const struct bpf_map *ring);
	/* Probes the files that are mapped now, and has those that are mapped later reported.  NULL: the library
	 * in the processes of the command does it. */
	void (*attach)(struct session *t);
	/* The command starts next; running programs are traced from now on. */
	void (*begin)(struct session *t);
	/* Waits for something to do, and does it, except for records in t->records.  Returns 1 if there may be records, 0 if not, or
	 * -errno.  Never NULL. */
	int (*serve)(struct session *t, const struct backend_wait *w);
	/* Called regularly. */
	void (*tick)(struct session *t);
	/* Sends the processes of the command a signal, except those that have it from the terminal; they stay traced. */
	void (*signal)(const struct session *t, int sig);
	/* Handles what the processes had sent when the loop ended, by this signal or 0. */
	void (*drain)(struct session *t, int sig);
	/* Takes the probes out, in up to ms milliseconds, and sends the command's processes this signal, unless 0.  Never NULL. */
	void (*detach)(struct session *t, int sig, long ms);
};

/* Sets t->backend: that of --attach, or the first in the table that can trace what the options ask for.  Exits with the
 * reason if there is none.  Call after session_init(). */
void session_choose_backend(struct session *t);

/* attach_kernel.c: uprobes, by sessions, multi links or perf events. */
bool kernel_suits(const struct backend *b, const struct session *t);
void kernel_refuse(const struct backend *b, struct session *t, struct failure *f);
void kernel_load(struct session *t, struct bpf_object_skeleton *skel);
void kernel_attach(struct session *t);
int kernel_serve(struct session *t, const struct backend_wait *w);
void kernel_signal(const struct session *t, int sig);
void kernel_detach(struct session *t, int sig, long ms);

/* attach_inject.c: the programs run in the traced processes, those of a command or running ones. */
bool resident_suits(const struct backend *b, const struct session *t);
void resident_refuse(const struct backend *b, struct session *t, struct failure *f);
bool inject_suits(const struct backend *b, const struct session *t);
void inject_refuse(const struct backend *b, struct session *t, struct failure *f);
void inject_load(struct session *t, struct bpf_object_skeleton *skel);
void inject_open(struct session *t, const struct bpf_map *ring);
void inject_attach(struct session *t);
void inject_begin(struct session *t);
int inject_serve(struct session *t, const struct backend_wait *w);
void inject_signal(const struct session *t, int sig);
void inject_detach(struct session *t, int sig, long ms);

/* attach_gpuprobe.c: GPU probe tools have no BPF programs, but probes in kernels. */
bool gpu_suits(const struct backend *b, const struct session *t);
void gpu_refuse(const struct backend *b, struct session *t, struct failure *f);
void gpu_begin(struct session *t);
int gpu_serve(struct session *t, const struct backend_wait *w);
void gpu_signal(const struct session *t, int sig);
void gpu_drain(struct session *t, int sig);
void gpu_detach(struct session *t, int sig, long ms);

#endif
