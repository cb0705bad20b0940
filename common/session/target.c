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
#include "base/failure.h"
#include "cli/out.h"
#include "probe/dso.h"
#include "probe/probe_source.h"
#include "probe/scan.h"
#include "probe/uprobes.h"
#include "probe/watch.h"
#include "proc/pid_ns.h"
#include "proc/privileges.h"
#include "proc/proc.h"
#include "session/command.h"
#include "session/target.h"
#include "sym/syms.h"

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

/* The kernel's numbers of processes, by which a probe names them, are those of the first namespace. */
static void check_pid_ns(void)
{
	if (!pid_ns_is_initial())
		die(0, "this is a pid namespace (a container), in which the kernel's numbers of processes "
		    "mean nothing: run it outside, or in a container with the host's (docker run --pid=host)");
}

static void open_pids(struct target *t)
{
	int *pids = parse_pids(t->pid_list), n = 0;

	t->probes.pids = pids;
	while (pids[n])
		n++;
	t->pidfds = xcalloc(n, sizeof(int));
	for (int i = 0; i < n; i++)
		t->pidfds[i] = open_pid(pids[i]);
}

void target_init(struct target *t)
{
	struct probes *p = &t->probes;
	struct rlimit files;

	if (t->pid_list && t->command)
		usage_error("--pid and --command exclude each other");
	log_init(t->verbose, t->quiet);
	out_init(t->json);
	if (!getrlimit(RLIMIT_NOFILE, &files)) {	/* each perf event is one */
		files.rlim_cur = files.rlim_max;
		setrlimit(RLIMIT_NOFILE, &files);
	}
	if (t->pid_list)
		open_pids(t);
	p->layer = t->layer;
	p->attacher.kind = attach_choose(t->attach, &p->failure);
	if (p->failure.text)
		failure_die(&p->failure);
	check_pid_ns();
	check_types();
	if (t->verbose)
		note("attaching by %s", attach_name(p->attacher.kind));
	libbpf_set_strict_mode(LIBBPF_STRICT_ALL & ~LIBBPF_STRICT_AUTO_RLIMIT_MEMLOCK);
}

void target_prepare(struct target *t, struct bpf_object *obj)
{
	t->probes.attacher.obj = obj;
	attach_prepare(obj, t->probes.attacher.kind);
}

static void list_probe(void *ctx, const char *path, const struct function *fn,
		       const struct elf_probe *p, const char *skipped)
{
	struct target *t = ctx;

	probe_list_probe(&t->found, path, fn, p, skipped);
}

static void list_file(void *ctx, const char *path, const char *why)
{
	struct target *t = ctx;

	probe_list_file(&t->found, path, why);
}

/* Its stacks are to have names when it is gone. */
static void refresh_symbols(void *ctx, int pid)
{
	(void)ctx;
	syms_refresh(pid);
}

static void die_if_failed(const struct target *t)
{
	if (t->probes.failure.text)
		failure_die(&t->probes.failure);
}

static void scan_again(struct target *t)
{
	struct probes *p = &t->probes;

	for (int i = 0; p->pids && p->pids[i] && !p->failure.text; i++)
		scan_process(p, p->pids[i]);
	if (!p->pids)
		scan_all(p);
	die_if_failed(t);
}

static void scan_new(struct target *t, int pid)
{
	if (!pid) {
		scan_again(t);
		return;
	}
	scan_watched(&t->probes, pid);
	die_if_failed(t);
}

static void on_watch(void *ctx, const struct watch_event *e)
{
	struct target *t = ctx;
	struct probes *p = &t->probes;

	if (e->what == WATCH_ENDED) {
		uprobes_detach(p, e->pid);
		return;
	}
	if (!t->finishing) {
		scan_new(t, e->pid);
		if (p->on_scanned)
			p->on_scanned(p->tool, e->pid);
	}
	watch_continue(p->watch, e);
}

/* Return true if this new mapping is worth a look.  In a process of -p every one is. */
static bool is_wanted(void *ctx, int pid, const char *path)
{
	const struct target *t = ctx;
	const int *pids = t->probes.pids;

	for (int i = 0; pids && pids[i]; i++)
		if (pids[i] == pid)
			return true;
	return !pids && pid != getpid() && scan_is_cuda(path);
}

static void attach_pids(struct target *t)
{
	const int *pids = t->probes.pids;

	for (int i = 0; pids[i]; i++) {
		int found = scan_process(&t->probes, pids[i]);

		die_if_failed(t);
		if (found < 0 && !t->list)
			die(0, "not permitted to look into process %d: %s", pids[i], scan_refusal(found));
		if (!found && !t->lib && !t->list)
			die_status(EXIT_NOTHING, 0, "process %d has no CUDA functions to trace: neither "
				   "libcudart nor libcuda is mapped, nor is the runtime linked in "
				   "(--list says more; -c traces from the start)%s", pids[i],
				   other_number(pids[i]));
	}
}

static void attach_lib(struct target *t)
{
	if (scan_lib(&t->probes, t->lib))
		return;
	die_if_failed(t);
	exit(EXIT_FAILURE);
}

char *target_who(const struct target *t)
{
	return t->pid_list ? xprintf("pid %s", t->pid_list) :
	       xstrdup(t->command ? t->command : "all processes");
}

static void say_tracing(const struct target *t)
{
	const struct probes *p = &t->probes;
	char *who = target_who(t);

	if (t->command)
		note("tracing '%s' (pid %d) and its children", t->command, p->pids[0]);
	else
		note("tracing %s: %d probes in %d file%s", who, p->nprobes, p->nfiles,
		     p->nfiles == 1 ? "" : "s");
	free(who);
}

static void start_watch(struct target *t)
{
	struct probes *p = &t->probes;
	char *why;
	int err;

	p->watch = watch_new(&p->attacher, on_watch, t);
	err = t->command ? watch_tree(p->watch, p->pids[0]) : watch_all(p->watch, is_wanted);
	t->watching = !err;
	p->linkers = t->command && t->watching;
	if (!err)
		return;
	why = privilege_missing(t->command ? PRIVILEGE_BPF : PRIVILEGE_EVENTS);
	warning(err, "the kernel does not tell of new mappings (%s): they are looked for once a "
		"second, and calls before that are not seen", why);
	free(why);
}

static void prepare_command(struct target *t)
{
	int *pids = xcalloc(2, sizeof(*pids));

	pids[0] = command_prepare(t->command);
	t->probes.pids = pids;
	t->probes.tree = true;
}

void target_attach(struct target *t, unsigned classes)
{
	t->probes.classes = classes;
	target_attach_functions(t, &cuda_probe_source);
}

void target_attach_functions(struct target *t, const struct probe_source *source)
{
	struct probes *p = &t->probes;

	p->source = source;
	p->session = t;
	p->on_probe = t->list ? list_probe : NULL;
	p->on_skipped = t->list ? list_file : NULL;
	p->on_process = refresh_symbols;
	if (t->command)
		prepare_command(t);
	start_watch(t);
	if (t->lib)
		attach_lib(t);
	if (t->pidfds)
		attach_pids(t);
	if (!p->pids)
		scan_all(p);
	die_if_failed(t);
	scan_installed(p);
	die_if_failed(t);
	if (t->list && !t->command) {
		probe_list_print(&t->found);
		exit(p->nfiles ? EXIT_SUCCESS : EXIT_NOTHING);
	}
	if (!p->on_dso)
		say_tracing(t);
	if (t->command)
		command_go();
}

bool target_ended(struct target *t)
{
	const int *pids = t->probes.pids;

	if (t->command)
		return command_ended();
	for (int i = 0; t->pidfds && pids[i]; i++) {
		struct pollfd p = { .fd = t->pidfds[i], .events = POLLIN };

		if (t->pidfds[i] < 0 ? !kill(pids[i], 0) || errno == EPERM : !poll(&p, 1, 0))
			return false;
	}
	return t->pidfds != NULL;
}

void target_tick(struct target *t)
{
	if (t->watching || time(NULL) == t->scanned)
		return;
	t->scanned = time(NULL);
	scan_again(t);
}

int target_finish(struct target *t, int sig)
{
	bool complete = t->command && command_ended();
	struct probes *p = &t->probes;
	unsigned long long lost;
	int status = 0;

	t->finishing = true;
	watch_detach(p->watch);
	uprobes_detach(p, -1);
	if (sig)
		watch_signal(p->watch, sig);
	lost = watch_lost(p->watch);
	watch_free(p->watch);
	p->watch = NULL;
	dso_free(p);
	if (lost)
		warning(0, "%llu new mappings were not told in time: calls in them may be missing", lost);
	if (!t->command)
		return 0;
	status = command_finish();
	if (t->list)
		probe_list_print(&t->found);
	else if (!p->nfiles && complete && !p->refused)
		warning(0, "the command used no CUDA library: there was nothing to trace");
	probe_list_free(&t->found);
	return status;
}
