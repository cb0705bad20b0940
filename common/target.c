/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "code.h"
#include "command.h"
#include "die.h"
#include "functions.h"
#include "out.h"
#include "report.h"
#include "syms.h"
#include "target.h"
#include "watch.h"

static bool watching, finishing;
static const int *wanted_pids;	/* -p */

static int open_pid(int pid)
{
	int leader = proc_leader(pid);

	if (!leader)
		die(ESRCH, "pid %d", pid);
	if (leader != pid)
		die(0, "pid %d is a thread of process %d: use -p %d", pid, leader, leader);
	return syscall(SYS_pidfd_open, pid, 0);
}

void target_init(struct target *t)
{
	struct rlimit files;
	int n = 0;

	if (t->pid_list && t->command)
		opt_bad("--pid and --command exclude each other");
	log_init(t->verbose, t->quiet);
	out_init(t->json);
	report_init(t->list);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {	/* each perf event is one */
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (t->pid_list) {
		t->pids = opt_pids(t->pid_list);
		while (t->pids[n])
			n++;
		t->pidfds = xcalloc(n, sizeof(int));
		for (int i = 0; i < n; i++)
			t->pidfds[i] = open_pid(t->pids[i]);
	}
	t->kind = attach_choose(t->attach);
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL & ~LIBBPF_STRICT_AUTO_RLIMIT_MEMLOCK);
}

void target_prepare(struct target *t, struct bpf_object *obj)
{
	t->obj = obj;
	attach_prepare(obj, t->kind);
}

struct scan {
	struct target *t;
	int pid, found;
};

static bool attach_mapping(void *ctx, const struct mapping *m)
{
	struct scan *s = ctx;
	struct code *c = code_of_mapping(s->t, s->pid, m);
	int err;

	s->found += c->scan.n > 0 || c->scan.fatbin;
	err = code_attach(s->t, c, s->t->pids ? s->pid : 0);
	if (err && err != -ESRCH)	/* not: it ended meanwhile */
		warning(err, "cannot probe %s", c->path);
	return true;
}

/* Probes what a process has mapped; the number of its files that use CUDA. */
static int scan_process(struct target *t, int pid)
{
	struct scan s = { .t = t, .pid = pid };

	proc_mappings(pid, attach_mapping, &s);
	if (s.found)
		syms_look(pid);
	return s.found;
}

/* A program that calls CUDA has the driver mapped, once it has made its first call. */
static bool is_cuda(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	return !strncmp(name, "libcuda.so", 10) || !strncmp(name, "libcudart", 9);
}

static bool find_cuda(void *ctx, const struct mapping *m)
{
	*(bool *)ctx = is_cuda(m->path);
	return !*(bool *)ctx;
}

static void scan_if_cuda(void *ctx, int pid)
{
	bool cuda = false;

	if (pid != getpid())
		proc_mappings(pid, find_cuda, &cuda);
	if (cuda)
		scan_process(ctx, pid);
}

/* Probes a file in the processes of -p, or in all; with -c, where it will be mapped. */
static int attach_everywhere(struct target *t, struct code *c)
{
	int err = 0;

	if (!t->pids)
		return code_attach(t, c, 0);
	for (int i = 0; !err && t->pidfds && t->pids[i]; i++)
		err = code_attach(t, c, t->pids[i]);
	return err;
}

/* The libraries that programs are likely to load yet: so none of their calls is missed. */
static void attach_installed(struct target *t)
{
	static const char *const dirs[] = {
		"/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/lib/wsl/lib",
		"/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/local/cuda/lib64",
		"/run/opengl-driver/lib",
	};
	static const char *const names[] = { "libcuda.so.1", "libcudart.so.11.0",
					     "libcudart.so.12", "libcudart.so.13" };
	struct code *c;

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs) * 4; i++) {
		char *path, *real;

		/* a process that runs has its runtime already, or brings its own */
		if (t->pids && i % 4)
			continue;
		path = xprintf("%s/%s", dirs[i / 4], names[i % 4]);
		real = realpath(path, NULL);
		c = real ? code_of_file(t, real) : NULL;
		if (c)
			attach_everywhere(t, c);
		free(path);
		free(real);
	}
}

static void on_watch(void *ctx, const struct watch_event *e)
{
	struct target *t = ctx;

	if (e->what == WATCH_ENDED) {
		code_detach(e->pid);
		return;
	}
	if (!finishing)
		scan_process(t, e->pid);
	watch_continue(e);
}

/* Is this new mapping worth a look?  In a process of -p every one is. */
static bool is_wanted(int pid, const char *path)
{
	for (int i = 0; wanted_pids && wanted_pids[i]; i++)
		if (wanted_pids[i] == pid)
			return true;
	return !wanted_pids && pid != getpid() && is_cuda(path);
}

static void attach_lib(struct target *t)
{
	struct code *c = code_of_file(t, t->lib);
	int err;

	if (!c && errno == EINVAL)
		die(0, "%s is not a regular file", t->lib);
	if (!c)
		die(errno, "cannot open %s", t->lib);
	if (c->scan.error)
		die(0, "%s: %s", t->lib, c->scan.error);
	if (!c->scan.n)
		die_status(EXIT_NOTHING, 0, "%s defines none of the CUDA functions that this tool "
			   "traces", t->lib);
	err = attach_everywhere(t, c);
	if (err)
		die(err, "cannot probe %s", t->lib);
}

static void attach_pids(struct target *t)
{
	for (int i = 0; t->pids[i]; i++)
		if (!scan_process(t, t->pids[i]) && !t->lib && !t->list)
			die_status(EXIT_NOTHING, 0, "process %d has no CUDA functions to trace: neither "
				   "libcudart nor libcuda is mapped, nor is the runtime linked in "
				   "(--list says more; -c traces from the start)", t->pids[i]);
}

static void say_tracing(const struct target *t)
{
	char *who = t->pid_list ? xprintf("pid %s", t->pid_list) : xstrdup("all processes");

	if (t->command)
		note("tracing '%s' (pid %d) and its children", t->command, t->pids[0]);
	else
		note("tracing %s: %d probes in %d file%s", who, t->nprobes, t->nfiles,
		     t->nfiles == 1 ? "" : "s");
	free(who);
}

void target_attach(struct target *t, unsigned classes)
{
	t->classes = classes;
	target_attach_functions(t, &cuda_functions);
}

void target_attach_functions(struct target *t, const struct functions *functions)
{
	int err;

	t->functions = functions;
	if (t->command) {
		t->pids = xcalloc(2, sizeof(*t->pids));
		t->pids[0] = command_prepare(t->command);
		err = watch_tree(t->pids[0], t->kind, on_watch, t);
	} else {
		wanted_pids = t->pids;
		err = watch_all(is_wanted, on_watch, t);
	}
	watching = !err;
	if (err && (t->command || t->verbose))
		warning(err, "the kernel does not tell of new mappings%s",
			t->command ? ": the first calls of CMD may be missed" : "");
	if (t->lib)
		attach_lib(t);
	if (t->pidfds)
		attach_pids(t);
	if (!t->pids)
		proc_each(scan_if_cuda, t);
	attach_installed(t);
	if (t->list && !t->command) {
		report_print();
		exit(t->nfiles ? EXIT_SUCCESS : EXIT_NOTHING);
	}
	say_tracing(t);
	if (t->command)
		command_go();
}

bool target_ended(struct target *t)
{
	if (t->command)
		return command_ended();
	for (int i = 0; t->pidfds && t->pids[i]; i++) {
		struct pollfd p = { .fd = t->pidfds[i], .events = POLLIN };

		if (t->pidfds[i] < 0 ? !kill(t->pids[i], 0) || errno == EPERM : !poll(&p, 1, 0))
			return false;
	}
	return t->pidfds != NULL;
}

void target_tick(struct target *t)
{
	static time_t last;

	if (watching || time(NULL) == last)
		return;
	last = time(NULL);
	for (int i = 0; t->pids && t->pids[i]; i++)
		scan_process(t, t->pids[i]);
	if (!t->pids)
		proc_each(scan_if_cuda, t);
}

int target_finish(struct target *t, int sig)
{
	bool complete = t->command && command_ended();
	unsigned long long lost;
	int status = 0;

	finishing = true;
	watch_detach();
	code_detach(-1);
	if (sig)
		watch_signal(sig);
	lost = watch_lost();
	watch_stop();
	if (lost)
		warning(0, "%llu new mappings were missed: calls in them are not counted", lost);
	if (!t->command)
		return 0;
	status = command_finish();
	if (t->list)
		report_print();
	else if (!t->nfiles && complete)
		warning(0, "the command used no CUDA library: there was nothing to trace");
	return status;
}
