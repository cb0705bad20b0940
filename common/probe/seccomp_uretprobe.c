/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/die.h"
#include "elf/elf.h"
#include "probe/dso.h"
#include "probe/probe_source.h"
#include "probe/seccomp_uretprobe.h"
#include "probe/probes.h"
#include "probe/uretprobe.h"
#include "proc/privileges.h"

static int count_returns(const struct dso *d)
{
	int n = 0;

	for (int i = 0; i < d->scan.n; i++)
		n += d->scan.probes[i].returns;
	return n;
}

bool uretprobe_is_all(const struct probes *p, const struct dso *d)
{
	for (int i = 0; i < d->scan.n; i++)
		if (!d->scan.probes[i].returns && !p->source->get(p, d->scan.probes[i].id).helper_only)
			return false;
	return true;
}

bool uretprobe_kills(struct probes *p)
{
	if (!p->uretprobe_tried && !p->seccomp_force)
		p->uretprobe_kills = uretprobe_try() == URETPROBE_KILLS;
	p->uretprobe_tried = true;
	return p->uretprobe_kills;
}

#define REMEDY "update the kernel (6.14 has the fix), or force it with --seccomp-force"

static void say_process(int pid, bool all)
{
	warning(0, "process %d has a seccomp filter, and return probes kill such a process on this kernel: %s; "
		REMEDY, pid, all ? "it is not traced" : "calls that need them are not traced in it");
}

static void say_everywhere(struct probes *p, bool all)
{
	if (all)
		failure_set(&p->failure, EXIT_FAILURE, 0,
			    "return probes kill processes that have a seccomp filter on this kernel, so not every "
			    "process can be traced: %s; " REMEDY, p->on_dso ? "probe entries alone, with cuda:" :
			    "choose some with -p or -c");
	else if (!p->uretprobe_said)
		warning(0, "return probes kill processes that have a seccomp filter on this kernel: calls that "
			"need them are not traced, unless with -p or -c; " REMEDY);
	p->uretprobe_said = true;
}

static void say_elsewhere(int pid, bool all)
{
	warning(0, "process %d: its first thread has ended, so its probes are in all processes; "
		"return probes kill those with a seccomp filter on this kernel: %s; " REMEDY, pid,
		all ? "it is not traced" : "calls that need them are not traced in it");
}

bool uretprobe_unsafe_elsewhere(struct probes *p, const struct dso *d, int pid, bool said)
{
	if (!count_returns(d) || !uretprobe_kills(p))
		return false;
	if (!said)
		say_elsewhere(pid, uretprobe_is_all(p, d));
	return true;
}

bool uretprobe_unsafe(struct probes *p, const struct dso *d, int pid, bool said)
{
	if (p->on_dso)		/* bpftrace's probes are in every process, whatever is traced */
		pid = 0;
	if (!count_returns(d) || (pid && !proc_has_filter(pid)) || !uretprobe_kills(p))
		return false;
	if (!pid)
		say_everywhere(p, uretprobe_is_all(p, d));
	else if (!said)
		say_process(pid, uretprobe_is_all(p, d));
	return true;
}
