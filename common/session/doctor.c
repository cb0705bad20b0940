/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <bpf/libbpf.h>
#include "base/die.h"
#include "cli/row.h"
#include "inject/inject_command.h"
#include "probe/attach.h"
#include "probe/scan.h"
#include "probe/uretprobe.h"
#include "proc/cgroup.h"
#include "proc/helper_files.h"
#include "proc/pid_ns.h"
#include "proc/privileges.h"
#include "proc/vm_read.h"
#include "session/doctor.h"
#include "session/process_filter.h"

enum verdict { OK, LIMITED, MISSING };

struct doctor_row {
	const char *check, *verdict;
	char *text;
	struct helper_pool *helpers;
	const struct filter_options *filter;
	const int *pids;	/* see check_machine() */
	struct filter selected;
	const char *no_filter;	/* why there is no such cgroup */
};

/* Each check returns its verdict, and sets r->text, which the caller frees: what there is, or what is missing and
 * what to do. */

static const char untried[] = "cannot be tried without the privileges above";

static enum verdict check_linux(struct doctor_row *r)
{
	struct utsname u;
	int err = attach_try(ATTACH_PERF);

	uname(&u);
	if (err == -EOPNOTSUPP || err == -ENOSYS) {
		r->text = xprintf("%s lacks BPF cookies for uprobes: Linux 5.15 or newer is required", u.release);
		return MISSING;
	}
	r->text = xprintf("Linux %s, %s", u.release, u.machine);
	return OK;
}

static enum verdict doctor_check_types(struct doctor_row *r)
{
	bool there = !access("/sys/kernel/btf/vmlinux", R_OK);

	r->text = xstrdup(there ? "/sys/kernel/btf/vmlinux" : "no /sys/kernel/btf/vmlinux: mount /sys, or use "
			  "a kernel built with CONFIG_DEBUG_INFO_BTF");
	return there ? OK : MISSING;
}

/* Adds that the tool has the library for --attach inject, if so; frees text. */
static char *with_inject(char *text, bool *possible)
{
	char *why, *library = inject_library_find(&why);
	char *longer = xprintf("%s%s", text, library ? ", inject works for a command (-c)" : "");

	*possible = library;
	free(library);
	free(why);
	free(text);
	return longer;
}

static enum verdict check_attach(struct doctor_row *r)
{
	char *text = xstrdup(""), *longer;
	bool inject;
	int n = 0;

	for (enum attach_kind k = ATTACH_SESSION; k <= ATTACH_PERF; k++) {
		int err = attach_try(k);

		longer = xprintf("%s%s%s %s", text, *text ? ", " : "", attach_name(k),
				 !err ? "works" : err == -EOPNOTSUPP ? "needs a newer kernel" :
				 err == -EPERM ? "is not permitted" : strerror(-err));
		free(text);
		text = longer;
		n += !err;
	}
	r->text = with_inject(text, &inject);
	return n ? OK : inject ? LIMITED : MISSING;
}

static enum verdict check_buffer(struct doctor_row *r)
{
	int has = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_RINGBUF, NULL);

	r->text = xstrdup(has == 1 ? "may be made" : attach_try(ATTACH_PERF) ? untried :
			  "not in this kernel: Linux 5.15 or newer is required");
	return has == 1 ? OK : MISSING;
}

static enum verdict check_lockdown(struct doctor_row *r)
{
	bool may = attach_may_read();

	r->text = xstrdup(may ? "BPF programs may read memory" : attach_try(ATTACH_PERF) ?
			  untried :
			  "BPF programs may not read memory: boot with lockdown=integrity or none");
	return may ? OK : MISSING;
}

static enum verdict check_returns(struct doctor_row *r)
{
	static const char *const texts[] = {
		[URETPROBE_SAFE] = "do not harm processes that have a seccomp filter",
		[URETPROBE_KILLS] = "kill processes that have a seccomp filter, as in containers: those are "
				    "left out; update the kernel (6.14 has the fix)",
		[URETPROBE_UNKNOWN] = untried,
	};
	enum uretprobe is = uretprobe_try();

	r->text = xstrdup(texts[is]);
	return is == URETPROBE_SAFE ? OK : LIMITED;
}

static enum verdict check_stacks(struct doctor_row *r)
{
	bool may = libbpf_probe_bpf_map_type(BPF_MAP_TYPE_TASK_STORAGE, NULL) == 1 &&
		   libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_current_task_btf, NULL) == 1;

	r->text = xstrdup(may ? "of native code by unwind tables, and of Python" :
			  attach_try(ATTACH_PERF) ? untried :
			  "the kernel has no task storage for uprobes: Linux 5.15 or newer is required");
	return may ? OK : MISSING;
}

static enum verdict check_privileges(struct doctor_row *r)
{
	int err = attach_try(ATTACH_PERF);

	if (err == -EPERM || err == -EACCES) {
		r->text = privilege_missing(PRIVILEGE_BPF);
		return MISSING;
	}
	r->text = xprintf("may trace%s", geteuid() ? ", without being root" : " as root");
	return OK;
}

static enum verdict check_processes(struct doctor_row *r)
{
	static const enum privilege needed[] = { PRIVILEGE_PTRACE, PRIVILEGE_CHECKPOINT };
	char *why;

	if (!pid_ns_is_initial()) {
		r->text = xstrdup("running in a PID namespace (container): run on the host or with --pid=host");
		return MISSING;
	}
	for (size_t i = 0; i < sizeof(needed) / sizeof(*needed); i++)
		if (privilege_lacks(needed[i])) {
			r->text = privilege_missing(needed[i]);
			return LIMITED;
		}
	if (vm_read_forbidden(r->helpers, getpid())) {
		why = privilege_missing(PRIVILEGE_MEMORY);
		r->text = xprintf("the memory of others may not be read, which a hang from before is found in: %s", why);
		free(why);
		return LIMITED;
	}
	r->text = xstrdup("may inspect those of every user");
	return OK;
}

static enum verdict check_cgroups(struct doctor_row *r)
{
	const char *top = cgroup_mount(), *name = r->filter->cgroup ?: r->filter->container;

	r->text = r->no_filter ? xstrdup(r->no_filter) :
		  !top ? xstrdup("none of version 2 are mounted: --cgroup and --container find none") :
		  name ? xprintf("%s has the id %llu", name, r->selected.cgroup) :
		  xprintf("of version 2 at %s", top);
	return r->no_filter ? MISSING : top ? OK : LIMITED;
}

static bool is_cuda(void *ctx, const struct mapping *m)
{
	*(bool *)ctx = scan_is_cuda(m->path);
	return !*(bool *)ctx;
}

struct users {
	struct doctor_row *row;
	int cuda, selected, unread;
};

static void count_user(void *ctx, int pid)
{
	struct users *u = ctx;
	bool cuda = false;
	int err = pid == getpid() ? 0 : helper_mappings(u->row->helpers, pid, false, is_cuda, &cuda);

	u->cuda += cuda;
	u->selected += cuda && filter_wants(&u->row->selected, pid);
	u->unread += err && err != -ESRCH;
}

static enum verdict check_cuda(struct doctor_row *r)
{
	struct users u = { .row = r };
	char *lib = scan_installed_driver(), *selected, *unread;

	proc_each(count_user, &u);
	selected = filter_is_set(&r->selected) ? xprintf(", %d selected", u.selected) : xstrdup("");
	unread = u.unread ? xprintf("; %d could not be read", u.unread) : xstrdup("");
	r->text = xprintf("%s; %d process%s CUDA now%s%s", lib ? lib : "no libcuda.so.1 in the usual directories",
			  u.cuda, u.cuda == 1 ? " uses" : "es use", selected, unread);
	free(selected);
	free(unread);
	free(lib);
	return lib || u.cuda ? OK : LIMITED;
}

/* Appends more, which it frees, to a list. */
static void append(char **list, char *more)
{
	char *longer = *list ? xprintf("%s; %s", *list, more) : xstrdup(more);

	free(*list);
	free(more);
	*list = longer;
}

/* "Hazards of probes" in cuda-bpf-tools(7), as far as mappings show them. */
static enum verdict check_hazards(struct doctor_row *r)
{
	for (const int *pid = r->pids; *pid; pid++) {
		struct proc_hazards h;
		int err = helper_hazards(r->helpers, *pid, &h);

		if (err)
			append(&r->text, xprintf("process %d: cannot read its mappings: %s", *pid,
						 strerror(-err)));
		if (!err && *h.moved)
			append(&r->text, xprintf("process %d: %s: its text was moved to anonymous "
						 "memory, where probes miss calls (start the program "
						 "with --attach inject, or without huge text pages)",
						 *pid, h.moved));
		if (!err && h.uprobes)
			append(&r->text, xprintf("process %d: [uprobes] is mapped until it ends: CRIU "
						 "cannot dump it (use criu --allow-uprobes, or "
						 "--attach inject from its start)", *pid));
	}
	if (r->text)
		return LIMITED;
	r->text = xstrdup("none that the mappings show");
	return OK;
}

static enum verdict check_bpftrace(struct doctor_row *r)
{
	char *path = xstrdup(getenv("PATH") ? getenv("PATH") : "/usr/bin:/bin"), *rest = path, *dir;

	while (!r->text && (dir = strsep(&rest, ":"))) {
		char *file = xprintf("%s/bpftrace", *dir ? dir : ".");

		if (!access(file, X_OK))
			r->text = file;
		else
			free(file);
	}
	free(path);
	if (r->text)
		return OK;
	r->text = xstrdup("not found: only cudabt needs it (package bpftrace)");
	return LIMITED;
}

OUT_WORD(row_type, "check");

static const struct field fields[] = {
	{ "type", NULL, 0, &row_type, 0 },	/* what this machine can do, with --check */
	{ "check", "CHECK", -14, OUT_STR, offsetof(struct doctor_row, check) },	/* what was checked */
	{ "verdict", "VERDICT", -8, OUT_STR, offsetof(struct doctor_row, verdict) },	/* ok, limited or missing */
	{ "text", "WHAT", -4, OUT_STR, offsetof(struct doctor_row, text) },	/* what was found, or what to do */
	{ 0 }
};

static const struct { const char *name; enum verdict (*fn)(struct doctor_row *r); } checks[] = {
	{ "kernel", check_linux }, { "BTF", doctor_check_types }, { "privileges", check_privileges },
	{ "processes", check_processes }, { "attaching", check_attach }, { "ring buffer", check_buffer },
	{ "lockdown", check_lockdown }, { "return probes", check_returns }, { "stacks", check_stacks },
	{ "cgroups", check_cgroups },
	{ "CUDA", check_cuda }, { "bpftrace", check_bpftrace }, { "hazards", check_hazards },
};

int check_machine(struct helper_pool *l, const struct filter_options *filter, const int *pids)
{
	static const char *const verdicts[] = { "ok", "limited", "missing" };
	enum verdict worst = OK;
	struct doctor_row row = { .helpers = l, .filter = filter, .pids = pids };
	char *why = filter_read(filter, &row.selected);

	row.no_filter = why;
	out_head(fields);
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
		enum verdict v;

		if (checks[i].fn == check_hazards && !pids)
			continue;
		row.check = checks[i].name;
		row.text = NULL;
		v = checks[i].fn(&row);
		row.verdict = verdicts[v];
		out_row(fields, &row);
		worst = v > worst ? v : worst;
		free(row.text);
	}
	free(why);
	return worst == MISSING ? EXIT_FAILURE : EXIT_SUCCESS;
}
