/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "abi/watch_event.h"
#include "base/clock.h"
#include "probe/filtered.h"
#include "probe/probes.h"
#include "probe/share.h"
#include "probe/uprobes.h"
#include "probe/watch.h"

/* Each process of the command has links of its own, with the kernel's pid filter, so that no other program meets a
 * breakpoint.  But to place a probe the kernel goes through all processes that have mapped the file
 * (register_for_each_vma()), and a call goes through all links of its function (handler_chain()): with n processes each of
 * them costs n.  So when a file has the links of many processes, it gets one link without a filter, and further processes
 * have only that one: link_counts() of bpf/lib/watched.bpf.h decides who is counted.  As their children inherit
 * breakpoints and all, these need not be stopped.  While there are such links, other programs that have mapped the files
 * run into the breakpoints: a trap for a probed call.  A perf event takes a tenth of a second to be removed, one at a
 * time on the whole machine. */
enum { SHARE_AT = 64, PERF_SHARE_AT = 8 };

static const unsigned long long CHECK_NS = 1000000000ull;

static void begin(struct probes *p)
{
	if (p->share.impossible || p->on_dso ||
	    !uprobes_crowded(p, p->attacher.kind == ATTACH_PERF ? PERF_SHARE_AT : SHARE_AT))
		return;
	p->share.on = !filtered_kills(p) && uprobes_share_all(p);
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
