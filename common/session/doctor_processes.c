/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/die.h"
#include "probe/attach.h"
#include "probe/scan.h"
#include "proc/cgroup.h"
#include "proc/helper_files.h"
#include "proc/pid_ns.h"
#include "proc/privileges.h"
#include "proc/vm_read.h"
#include "session/doctor_row.h"

enum verdict check_privileges(struct doctor_row *r)
{
	int err = attach_try(ATTACH_PERF);

	if (err == -EPERM || err == -EACCES) {
		r->text = privilege_missing(PRIVILEGE_BPF);
		return MISSING;
	}
	r->text = xprintf("may trace%s", geteuid() ? ", without being root" : " as root");
	return OK;
}

enum verdict doctor_processes(struct doctor_row *r)
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

enum verdict check_cgroups(struct doctor_row *r)
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

enum verdict check_cuda(struct doctor_row *r)
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
