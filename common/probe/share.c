/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/watch_event.h"
#include "base/clock.h"
#include "probe/probes.h"
#include "probe/share.h"
#include "probe/uprobes.h"
#include "probe/seccomp_uretprobe.h"
#include "probe/watch.h"

/* Each process of the command has links of its own, with the kernel's pid filter, so that no other program meets a
 * breakpoint.  But for each probe that it places, the kernel goes through all processes that have mapped the file
 * (register_for_each_vma()), and at each call through all links of the function (handler_chain()): n processes cost n * n,
 * and 35 ns a call for each.  So once a file has the links of many processes, it gets one without a filter, and further
 * processes have that one only; link_counts() of bpf/lib/watched.bpf.h decides whose calls count.  Their children inherit
 * all breakpoints, so they are not stopped.  Meanwhile other programs that have mapped the file pay a trap for each probed
 * call.  A perf event takes a tenth of a second to be removed, one at a time on the whole machine. */
enum { SHARE_AT = 32, PERF_SHARE_AT = 8 };

static const unsigned long long CHECK_NS = 1000000000ull;

static void begin(struct probes *p)
{
	if (p->share.impossible || p->on_dso ||
	    !uprobes_crowded(p, p->attacher.kind == ATTACH_PERF ? PERF_SHARE_AT : SHARE_AT))
		return;
	if (p->share.removed && uprobes_detaching(p))	/* a call would count twice */
		return;
	p->share.removed = false;
	p->share.on = !uretprobe_kills(p) && uprobes_share_all(p);
	p->share.impossible = !p->share.on;
	if (p->share.on)
		watch_set_own(p->watch, WATCH_OWN | WATCH_SHARED);
	else
		uprobes_detach(p, 0);
}

int share_choose(struct probes *p, int pid)
{
	int how = p->tree ? watch_probed(p->watch, pid) : -1;

	if (how < 0)	/* it has ended, or there was no room for it */
		return WATCH_OWN;
	if (!p->share.on)
		begin(p);
	return p->share.on ? WATCH_SHARED | (how & WATCH_OWN) : WATCH_OWN;
}

void share_scanned(struct probes *p, int pid, int how)
{
	int was = p->tree ? watch_probed(p->watch, pid) : -1;

	if (was >= 0 && was != how)
		watch_set_probed(p->watch, pid, how);
}

static void end(struct probes *p)
{
	uprobes_detach(p, 0);
	watch_set_own(p->watch, WATCH_OWN);
	watch_unshare(p->watch, false);
	p->share.on = p->share.ends = false;
	p->share.removed = true;
}

void share_tick(struct probes *p)
{
	unsigned long long now = p->share.on ? clock_ns() : 0;
	bool needed;

	if (!p->share.on || now - p->share.checked < CHECK_NS)
		return;
	p->share.checked = now;
	needed = !watch_all_own(p->watch);
	if (!needed && p->share.ends) {
		end(p);
	} else if (needed == p->share.ends) {
		/* a child whose parent was SHARED may be under way until the next check */
		p->share.ends = !needed;
		watch_unshare(p->watch, !needed);
	}
}
