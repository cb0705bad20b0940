/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "cli/out.h"
#include "probe/dso.h"
#include "probe/probe_source.h"
#include "probe/scan.h"
#include "probe/uprobes.h"
#include "probe/watch.h"
#include "proc/pid_ns.h"
#include "session/command.h"
#include "session/target.h"
#include "session/target_watch.h"
#include "sym/syms.h"

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

/* Probes name processes by their numbers in the first namespace. */
static void check_pid_ns(void)
{
	if (!pid_ns_is_initial())
		die(0, "this is a pid namespace (a container), in which the kernel's numbers of processes "
		    "mean nothing: run it outside, or in a container with the host's (docker run --pid=host)");
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
	if (t->pid_list) {
		t->opened = pids_open(t->pid_list);
		p->pids = t->opened.pids;
	}
	p->layer = t->layer;
	p->attacher.kind = attach_choose(t->attach, &p->failure);
	target_check(t);
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

static void attach_pids(struct target *t)
{
	const int *pids = t->probes.pids;

	for (int i = 0; pids[i]; i++) {
		int found = scan_process(&t->probes, pids[i]);

		target_check(t);
		if (found < 0 && !t->list)
			die(0, "not permitted to look into process %d: %s", pids[i], scan_refusal(found));
		if (!found && !t->lib && !t->list)
			die_status(EXIT_NOTHING, 0, "process %d has no CUDA functions to trace: neither "
				   "libcudart nor libcuda is mapped, nor is the runtime linked in "
				   "(--list says more; -c traces from the start)%s", pids[i],
				   pids_hint(pids[i]));
	}
}

static void attach_lib(struct target *t)
{
	if (scan_lib(&t->probes, t->lib))
		return;
	target_check(t);
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
	struct target *t = ctx;

	syms_refresh(t->syms, pid);
}

static void set_callbacks(struct target *t)
{
	struct probes *p = &t->probes;

	p->session = t;
	p->on_probe = t->list ? list_probe : NULL;
	p->on_skipped = t->list ? list_file : NULL;
	p->on_process = refresh_symbols;
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
	set_callbacks(t);
	if (t->command)
		prepare_command(t);
	target_watch(t);
	if (t->lib)
		attach_lib(t);
	if (t->pid_list)
		attach_pids(t);
	if (!p->pids)
		scan_all(p);
	target_check(t);
	scan_installed(p);
	target_check(t);
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
	if (t->command)
		return command_ended();
	return t->pid_list && pids_ended(&t->opened);
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
