/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The back ends of the kernel: uprobes, in files that are mapped when the tool starts, and later. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "base/failure.h"
#include "base/util.h"
#include "probe/dso.h"
#include "probe/exec_stop.h"
#include "probe/scan.h"
#include "probe/uprobes.h"
#include "probe/watch.h"
#include "proc/command.h"
#include "proc/pid_ns.h"
#include "proc/privileges.h"
#include "session/backend.h"
#include "session/session.h"
#include "session/session_attach.h"
#include "sym/syms.h"

bool kernel_suits(const struct backend *b, const struct session *t)
{
	return !t->gpuprobe && (!t->attach || t->attach == (int)b->kind);
}

/* libbpf looks for BTF in several places. */
static void attach_kernel_check_types(struct failure *f)
{
	struct btf *btf = NULL;

	if (!access("/sys/kernel/btf/vmlinux", R_OK))
		return;
	btf = btf__load_vmlinux_btf();
	if (!btf)
		failure_set(f, EXIT_FAILURE, 0, "no kernel type information (BTF) in /sys/kernel/btf/vmlinux: the kernel was "
			    "built without CONFIG_DEBUG_INFO_BTF, or /sys is not mounted");
	btf__free(btf);
}

/* Probes report PIDs of the initial namespace. */
static void check_pid_ns(struct failure *f)
{
	if (!pid_ns_is_initial())
		failure_set(f, EXIT_FAILURE, 0, "running in a PID namespace (container): kernel PIDs cannot be resolved; run "
			    "on the host or with docker run --pid=host");
}

void kernel_refuse(const struct backend *b, struct session *t, struct failure *f)
{
	(void)t;
	attach_refuse(b->kind, f);	/* keeps the first failure only */
	check_pid_ns(f);
	attach_kernel_check_types(f);
}

/* Each map and program takes a descriptor; without one, libbpf reports "Invalid argument" for some. */
static void check_descriptors(const struct bpf_object *obj)
{
	struct bpf_program *p;
	struct bpf_map *m;
	int *fds = NULL, n = 0, err = 0;

	bpf_object__for_each_map(m, obj)
		n++;
	bpf_object__for_each_program(p, obj)
		n += bpf_program__autoload(p);
	fds = xcalloc(n + 1, sizeof(*fds));
	for (int i = 0; i < n && !err; i++) {
		fds[i] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
		err = fds[i] < 0 ? errno : 0;
	}
	if (err == EMFILE)
		die(err, "cannot load the BPF programs");
	for (int i = 0; i < n && fds[i] > 0; i++)
		close(fds[i]);
	free(fds);
}

void kernel_load(struct session *t, struct bpf_object_skeleton *skel)
{
	(void)t;
	check_descriptors(*skel->obj);
	if (bpf_object__load_skeleton(skel))
		die(session_load_error(-errno), "cannot load the BPF programs");
}

static void say_missing(const struct watch_event *e, const char *what)
{
	warning(0, "process %d: %s: calls until its probes are placed again may be missing",
		e->head.pid, what);
}

/* A process of -p is stopped as it begins to execute the program, if possible. */
static void renew_stopped(struct session *t, const struct watch_event *e)
{
	enum exec_stop how = exec_stop(&t->helpers, e->head.pid, e->tid);
	bool renewed;

	t->renewed_pid = 0;	/* it may have been renewed at an earlier exec */
	if (how == EXEC_STOP_NONE)
		return;
	renewed = uprobes_renew(&t->probes, e->head.pid, false);
	t->renewed_pid = e->head.pid;
	t->renewed = proc_identity(e->head.pid);
	exec_continue(&t->helpers, e->head.pid);
	if (how == EXEC_STOP_LATE || !renewed)
		say_missing(e, "another thread than its first has executed a program");
}

static bool is_renewed(const struct session *t, int pid)
{
	struct proc_identity now = proc_identity(pid);

	return t->renewed_pid == pid && (!now.started || proc_identity_is(t->renewed, now));
}

static void renew(struct session *t, const struct watch_event *e)
{
	struct probes *p = &t->probes;
	bool ends = e->head.kind == WATCH_LEADER_ENDS, renewed;

	if (e->head.kind == WATCH_LEADER_NEW && is_renewed(t, e->head.pid))
		return;
	if (e->head.kind == WATCH_LEADER_NEW && !p->tree)
		say_missing(e, "another thread than its first has executed a program");
	if (ends && p->attacher.kind == ATTACH_PERF)
		say_missing(e, "its first thread has ended (--attach perf)");
	renewed = uprobes_renew(p, e->head.pid, ends);
	if (ends && p->attacher.kind != ATTACH_PERF && !renewed)
		say_missing(e, "its first thread has ended");
}

static bool is_renewal(const struct watch_event *e)
{
	return e->head.kind == WATCH_LEADER_ENDS || e->head.kind == WATCH_LEADER_NEW ||
	       e->head.kind == WATCH_LEADER_SOON;
}

static void on_watch(void *ctx, const struct watch_event *e)
{
	struct session *t = ctx;
	struct probes *p = &t->probes;

	if (e->head.kind == RECORD_EXIT) {
		uprobes_detach(p, e->head.pid);
		return;
	}
	if (is_renewal(e) && !p->tree && !uprobes_has_own(p, e->head.pid))
		return;
	if (e->head.kind == WATCH_LEADER_SOON) {
		if (!t->finishing)
			renew_stopped(t, e);
		return;
	}
	if (t->syms)	/* their stacks are of the mappings of before, perhaps another program's */
		record_queue_handle_some(&t->records);
	if (!t->finishing && is_renewal(e))
		renew(t, e);
	if (!t->finishing)
		session_scan_new(t, e->head.pid);
	watch_continue(p->watch, e);
}

/* Return true if this new mapping is worth a scan; with -p, all those of the processes are. */
static bool is_wanted(void *ctx, int pid, const char *path)
{
	const struct session *t = ctx;
	const int *pids = t->probes.pids;

	if (!strcmp(path, "[uprobes]"))		/* mapped at its first breakpoint */
		return false;
	syms_changed(t->syms, pid);
	for (int i = 0; pids && pids[i]; i++)
		if (pids[i] == pid)
			return true;
	return !pids && pid != getpid() && scan_is_cuda(path);
}

void session_watch_new(struct session *t)
{
	t->probes.watch = watch_new(&t->probes.attacher, on_watch, t);
}

/* Reports the command, or every process.  Warns if the kernel does not report mappings: then session_tick() polls. */
static void watch(struct session *t)
{
	struct probes *p = &t->probes;
	char *why;
	int err;

	session_watch_new(t);
	err = t->command ? watch_tree(p->watch, p->pids[0]) : watch_all(p->watch, is_wanted, !p->pids && !t->syms);
	t->watching = !err;
	p->linkers = t->command && t->watching;
	if (t->verbose && !t->command && !err)
		note("new mappings are selected %s", watch_selects(p->watch) ? "in the kernel" : "by the tool");
	if (!err)
		return;
	err = session_load_error(err);
	if (err == -EMFILE || err == -ENFILE || err == -ENOMEM)
		die(err, "cannot watch for new mappings");
	why = err == -EPERM || err == -EACCES ?
	      privilege_missing(t->command ? PRIVILEGE_BPF : PRIVILEGE_EVENTS) : xstrdup(strerror(-err));
	warning(0, "no mmap events (%s): polling for new mappings once a second; earlier calls "
		"are missed", why);
	free(why);
}

void kernel_attach(struct session *t)
{
	watch(t);
	session_attach_named(t);
	if (!t->probes.pids)
		scan_all(&t->probes);
	session_die_if_failed(t);
	scan_installed(&t->probes);
	session_die_if_failed(t);
}

int kernel_serve(struct session *t, const struct backend_wait *w)
{
	return watch_poll(t->probes.watch, w->records, w->wake, w->ms);
}

void kernel_signal(const struct session *t, int sig)
{
	if (t->probes.watch)
		watch_signal(t->probes.watch, sig, command_has_signal());
}

void kernel_detach(struct session *t, int sig, long ms)
{
	struct probes *p = &t->probes;
	unsigned long long lost;

	watch_detach(p->watch);
	uprobes_end(p, ms);
	if (sig)
		watch_signal(p->watch, sig, command_has_signal());
	lost = watch_lost(p->watch);
	watch_free(p->watch);
	p->watch = NULL;
	dso_free(p);
	if (lost)
		warning(0, "lost %llu mmap event%s: calls in new mappings may be missing", lost, plural(lost));
}
