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
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "probe/dso.h"
#include "session/command.h"
#include "base/die.h"
#include "probe/probe_source.h"
#include "cli/out.h"
#include "proc/pid_ns.h"
#include "proc/privileges.h"
#include "session/probe_list.h"
#include "probe/scan.h"
#include "session/target.h"
#include "probe/watch.h"

static bool watching, finishing;
static const int *wanted_pids;	/* -p */

/* A number that is seen inside a container may have been meant. */
static char *other_number(int pid)
{
	char *outside = pid_outside(pid), *text;

	if (!outside)
		return xstrdup("");
	text = xprintf("; inside a pid namespace (a container) process %s has the number %d: use -p %s",
		       outside, pid, outside);
	free(outside);
	return text;
}

static int open_pid(int pid)
{
	int leader = proc_leader(pid);

	if (!leader)
		die(0, "pid %d: %s%s", pid, strerror(ESRCH), other_number(pid));
	if (leader != pid)
		die(0, "pid %d is a thread of process %d: use -p %d", pid, leader, leader);
	return syscall(SYS_pidfd_open, pid, 0);
}

/* libbpf looks in several places. */
static void check_types(void)
{
	struct btf *btf = NULL;

	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		return;
	btf = btf__load_vmlinux_btf();
	if (!btf)
		die(0, "there is no /sys/kernel/btf/vmlinux, which says how the kernel's structures are "
		    "laid out: the kernel is built without CONFIG_DEBUG_INFO_BTF, or /sys is not mounted");
	btf__free(btf);
}

void target_init(struct target *t)
{
	struct rlimit files;
	int n = 0;

	if (t->pid_list && t->command)
		usage_error("--pid and --command exclude each other");
	log_init(t->verbose, t->quiet);
	out_init(t->json);
	probe_list_init(t->list);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {	/* each perf event is one */
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (t->pid_list) {
		t->pids = parse_pids(t->pid_list);
		while (t->pids[n])
			n++;
		t->pidfds = xcalloc(n, sizeof(int));
		for (int i = 0; i < n; i++)
			t->pidfds[i] = open_pid(t->pids[i]);
	}
	t->kind = attach_choose(t->attach);
	pid_ns_check();
	check_types();
	if (t->verbose)
		note("attaching by %s", attach_name(t->kind));
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL & ~LIBBPF_STRICT_AUTO_RLIMIT_MEMLOCK);
}

void target_prepare(struct target *t, struct bpf_object *obj)
{
	t->obj = obj;
	attach_prepare(obj, t->kind);
}

static void scan_again(struct target *t)
{
	for (int i = 0; t->pids && t->pids[i]; i++)
		scan_process(t, t->pids[i]);
	if (!t->pids)
		scan_all(t);
}

static void on_watch(void *ctx, const struct watch_event *e)
{
	struct target *t = ctx;

	if (e->head.kind == RECORD_EXIT) {
		uprobes_detach(e->head.pid);
		return;
	}
	if (!finishing && e->head.pid)
		scan_watched(t, e->head.pid);
	else if (!finishing)
		scan_again(t);
	if (!finishing && t->on_scanned)
		t->on_scanned(t, e->head.pid);
	watch_continue(e);
}

/* Is this new mapping worth a look?  In a process of -p every one is. */
static bool is_wanted(int pid, const char *path)
{
	for (int i = 0; wanted_pids && wanted_pids[i]; i++)
		if (wanted_pids[i] == pid)
			return true;
	return !wanted_pids && pid != getpid() && scan_is_cuda(path);
}

static void attach_pids(struct target *t)
{
	for (int i = 0; t->pids[i]; i++) {
		int found = scan_process(t, t->pids[i]);

		if (found < 0 && !t->list)
			die(0, "not permitted to look into process %d: %s", t->pids[i],
			    scan_refusal(found));
		if (!found && !t->lib && !t->list)
			die_status(EXIT_NOTHING, 0, "process %d has no CUDA functions to trace: neither "
				   "libcudart nor libcuda is mapped, nor is the runtime linked in "
				   "(--list says more; -c traces from the start)%s", t->pids[i],
				   other_number(t->pids[i]));
	}
}

char *target_who(const struct target *t)
{
	return t->pid_list ? xprintf("pid %s", t->pid_list) :
	       xstrdup(t->command ? t->command : "all processes");
}

static void say_tracing(const struct target *t)
{
	char *who = target_who(t);

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
	target_attach_functions(t, &cuda_probe_source);
}

void target_attach_functions(struct target *t, const struct probe_source *functions)
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
	if (err)
		warning(err, "the kernel does not tell of new mappings (%s): they are looked for once a "
			"second, and calls before that are not seen",
			privilege_missing(t->command ? PRIVILEGE_BPF : PRIVILEGE_EVENTS));
	if (t->lib)
		scan_lib(t, t->lib);
	if (t->pidfds)
		attach_pids(t);
	if (!t->pids)
		scan_all(t);
	scan_installed(t);
	if (t->list && !t->command) {
		probe_list_print();
		exit(t->nfiles ? EXIT_SUCCESS : EXIT_NOTHING);
	}
	if (!t->on_dso)
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
	scan_again(t);
}

int target_finish(struct target *t, int sig)
{
	bool complete = t->command && command_ended();
	unsigned long long lost;
	int status = 0;

	finishing = true;
	watch_detach();
	uprobes_detach(-1);
	if (sig)
		watch_signal(sig);
	lost = watch_lost();
	watch_stop();
	if (lost)
		warning(0, "%llu new mappings were not told in time: calls in them may be missing", lost);
	if (!t->command)
		return 0;
	status = command_finish();
	if (t->list)
		probe_list_print();
	else if (!t->nfiles && complete && !t->refused)
		warning(0, "the command used no CUDA library: there was nothing to trace");
	return status;
}
