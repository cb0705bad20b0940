/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The traced processes and the probes in their CUDA functions, both those mapped now and those
 * mapped later. */
#ifndef SESSION_SESSION_H
#define SESSION_SESSION_H
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>
#include "abi/device.h"	/* of the skeletons, as the next */
#include "abi/python_frames.h"
#include "base/progress.h"
#include "cli/opt.h"
#include "probe/attach.h"
#include "probe/probes.h"
#include "proc/helper_pool.h"
#include "proc/process_table.h"
#include "session/pids.h"
#include "session/process_filter.h"
#include "session/record_queue.h"
#include "sym/stack_losses.h"

struct backend;
struct bpf_object;
struct gpuprobe;
struct inject;
struct probe_line;
struct syms;

struct probe_list {
	struct probe_line *lines;
	int n;
};

struct session {
	/* options */
	const char *pid_list, *command, *user, *lib, *device_list;
	const char *output;	/* a file; NULL: standard output */
	char **argv;		/* the command's, if it is not one for the shell; else NULL */
	int layer;		/* index into "runtime|driver|all": enum cuda_lib, or both */
	int attach;		/* enum attach_kind */
	bool list, check, verbose, quiet, json;
	long duration_ns;	/* 0 = no limit */
	int unwind, shown;	/* indexes into UNWIND_CHOICES, STACK_CHOICES; -1: not given */
	long stack_size;	/* bytes to copy; -1: not given */
	struct filter_options filter;
	unsigned long long devices;	/* bit n: device n is wanted; 0: all */
	bool lines;		/* source lines and inlined functions in call stacks */
	/* the tool's, or NULL: for each process that has mapped CUDA files, after each scan of it; tool is that of probes */
	void (*on_process)(void *tool, int pid);
	/* state */
	struct filter selected;	/* whose calls are recorded */
	bool matched;		/* a process with CUDA is selected */
	struct probes probes;	/* the tool sets the tool's callbacks */
	struct helper_pool helpers;
	struct pids opened;	/* of -p */
	struct process_table processes;
	struct progress progress;	/* of long waits before tracing and at the end */
	bool watching, attached, finishing;
	int renewed_pid;	/* has new links since its exec by another thread */
	struct proc_identity renewed;
	bool live;		/* a screen was opened: nothing else may be printed until the end */
	time_t scanned;		/* the last scan, if nothing is watched */
	struct probe_list found;	/* with --list: what is probed, and what is skipped and why */
	const struct backend *backend;	/* set by session_choose_backend() */
	struct inject *inject;	/* with --attach inject, else NULL */
	struct gpuprobe *gpuprobe;	/* of a GPU probe tool, else NULL; set by tool_run() */
	uid_t traced_user;	/* whose processes the command's are; or those that have inject/resident.so */
	bool needs_kernel;	/* set by the tool's check(): its options need USDT probes */
	bool stacks;		/* the tool's programs take call stacks */
	struct stack_losses stack_losses;	/* those of syms, and of calls in flight */
	struct syms *syms;	/* a tool that needs names sets it when it opens its programs;
				 * freed by tool_run() */
	struct record_queue records;	/* opened by event_loop_open() */
	bool reads_at_exec;	/* the tool's: reads the mappings of a new program immediately, not at its first stack: its
				 * calls may be reported when it is gone */
};

/* Call at the end: warns if USDT probes were wanted and no file had any. */
void session_check_usdt(const struct session *t);

#define SESSION_LAYER_ALL CUDA_LIB_MAX
#define SESSION_INIT {									\
	.layer = SESSION_LAYER_ALL, .unwind = -1, .shown = -1, .stack_size = -1,		\
	.probes.return_classes = ~0u, .helpers = HELPER_POOL_INIT }

/* The options of every tool … */
#define OPT_TARGET(t)									\
	OPT_WHICH(t),									\
	OPT_CHOICE(0, "attach", ATTACH_WORDS, &(t)->attach,				\
		   "how to attach; default: auto, the best that is possible here"),		\
	OPT_FILTER(&(t)->filter),							\
	OPT_RUN(t)

/* … also of a tool whose probes another program attaches: what to trace … */
#define OPT_WHICH(t)									\
	OPT_STR('p', "pid", "PID[,PID...]", &(t)->pid_list,				\
		"trace these processes, by number or name; default: every process"),			\
	OPT_CMD('c', "command", "'CMD ...'", &(t)->command,				\
		"run CMD, trace it and its children until it exits"),			\
	OPT_STR('u', "user", "USER", &(t)->user,					\
		"run CMD as USER: name, UID or UID:GID; default: the caller of sudo"),	\
	OPT_STR('l', "lib", "FILE", &(t)->lib, "also probe FILE, wherever it is loaded"), \
	OPT_CHOICE(0, "layer", "runtime|driver|all", &(t)->layer,			\
		   "which functions to probe; default: all")

/* … and how to run. */
#define OPT_RUN(t)									\
	OPT_STEER(t),									\
	OPT_FLAG('j', "json", &(t)->json, "print one JSON object per line"),			\
	OPT_QUIET(t)

#define OPT_STEER(t)									\
	OPT_FLAG(0, "list", &(t)->list, "print the probe locations and exit"),		\
	OPT_FLAG(0, "check", &(t)->check,						\
		 "check kernel, privileges and libraries, and exit"),	\
	OPT_FLAG(0, "seccomp-force", &(t)->probes.seccomp_force,			\
		 "place return probes even if they kill the process"),			\
	OPT_TIME('d', "duration", "SECONDS", &(t)->duration_ns, VALUE_S, 1, "stop after SECONDS")

#define OPT_QUIET(t)									\
	OPT_FLAG('q', "quiet", &(t)->quiet, "no start message and no progress"),			\
	OPT_FLAG('v', "verbose", &(t)->verbose, "print debug messages")

/* The option of a tool that follows devices. */
#define OPT_DEVICE(t)									\
	OPT_STR(0, "device", "N[,N...]", &(t)->device_list,				\
		"only calls on these devices, as the program numbers them")

/* The options of a tool that can show call stacks. */
#define UNWIND_CHOICES "dwarf|fp"
#define STACK_CHOICES "all|native|python"
#define OPT_STACKS(t)									\
	OPT_CHOICE(0, "stack", STACK_CHOICES, &(t)->shown,				\
		   "call stacks with these frames; default: all"),			\
	OPT_CHOICE(0, "unwind", UNWIND_CHOICES, &(t)->unwind,				\
		   "find native frames by unwind tables or frame pointers; default: dwarf"), \
	OPT_SIZE(0, "stack-size", "SIZE", &(t)->stack_size,				\
		 "unwind at most SIZE bytes of a stack, 4k to 64k, the default"),		\
	OPT_FLAG(0, "lines", &(t)->lines,						\
		 "call stacks with source lines and inlined functions")

/* Call after reading the options, before the tool checks them: completes those of call stacks.  Exits 2
 * if they cannot be combined.  Return true if one was given. */
bool session_read_stacks(struct session *t);

/* Returns the frames that call stacks have; none if the tool takes no stacks.  After session_read_stacks(). */
struct stack_config session_stack_config(const struct session *t);

/* Takes the command that follows "--", which is run without a shell. */
void session_command(struct session *t, char **argv);

/* Call after reading the options: checks them, prepares the command, starts logging and output.  Exits with the reason
 * if there is no such process.  Call session_choose_backend() next. */
void session_init(struct session *t);

/* Call between open and load of the tool's BPF object. */
void session_prepare(struct session *t, struct bpf_object *obj);

/* Makes t->syms, unless it exists. */
void session_need_syms(struct session *t);

/* Call when the tool's parts have registered, which may use them: drops the names of processes that end. */
void session_drop_syms_at_end(struct session *t);

/* Exits with the reason if the probes have failed. */
void session_die_if_failed(const struct session *t);

/* Describes what is traced: "pid 12,34", the command, "all processes".  The caller frees it. */
char *session_who(const struct session *t);

/* Return true if no other user can take part: with -c, or -p for one process. */
bool session_is_alone(const struct session *t);

/* Return true if the processes of -p, or the command, have ended. */
bool session_ended(struct session *t);

/* Call last: frees the processes of -p, or the command and its pid. */
void session_free(struct session *t);

/* The configuration of the probes of bpf/lib/device.bpf.h, and what they found. */

/* Call between open and load: sets which devices are wanted.  classes: what the tool traces.  Returns the
 * classes to probe. */
unsigned session_device_prepare(struct session *t, struct bpf_object *obj, unsigned classes);

/* Call when everything is probed: threads that begin from now on are seen from their first call on, as are
 * all of a command. */
void session_device_begin(const struct session *t, const struct bpf_object *obj);

/* Warns of calls that were left out because their device is unknown. */
void session_device_losses(const struct bpf_object *obj);

/* Returns why libbpf could not load BPF programs: err, or the reason that it drops if it cannot read the kernel's types. */
int session_load_error(int err);

/* Following the mappings of the traced processes. */

/* Probes what a watched process has mapped; 0: what any has. */
void session_scan_new(struct session *t, int pid);

/* Call regularly: goes on detaching, and polls for new mappings, once a second, if the kernel does not
 * report them. */
void session_tick(struct session *t);

#endif
