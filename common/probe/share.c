/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "abi/watch_event.h"
#include "base/clock.h"
#include "probe/probes.h"
#include "probe/share.h"
#include "probe/uprobes.h"
#include "probe/seccomp_uretprobe.h"
#include "probe/watch.h"

/* Each process of the command has links of its own, with the kernel's pid filter, so that no
 * other program meets a breakpoint.  But for each probe that it places, the kernel goes through
 * all processes that have mapped the file (register_for_each_vma()), and at each call through
 * all links of the function (handler_chain()): n processes cost n * n, and 35 ns a call for
 * each.  So once a file has the links of many processes, it gets one without a filter, and
 * further processes have that one only; shared_link_counts() of bpf/lib/watched.bpf.h decides
 * whose calls count.  Their children inherit all breakpoints, so they are not stopped.
 * Meanwhile other programs that have mapped the file pay a trap for each probed call.  A perf
 * event takes a tenth of a second to be removed, one at a time on the whole machine. */
enum { SHARE_AT = 32, PERF_SHARE_AT = 8 };

static const unsigned long long CHECK_NS = 1000000000ull;

int share_at(const struct probes *p)
{
	return p->attacher.kind == ATTACH_PERF ? PERF_SHARE_AT : SHARE_AT;
}

/* ---- With -p the number of processes is known: they share links from the start, except those where a file cannot have such
 * a link. */

bool share_wanted(const struct probes *p)
{
	int n = 0;

	while (!p->tree && p->pids && p->pids[n] && n <= share_at(p))
		n++;
	return n > share_at(p);
}

static int watched(const struct probes *p)
{
	return bpf_object__find_map_fd_by_name(p->attacher.obj, MAP_WATCHED);
}

void share_list(struct probes *p)
{
	const unsigned char how = WATCH_SHARED;

	p->share.listed = share_wanted(p) && !p->on_dso && !uretprobe_kills(p) && watch_ends(p->watch);
	for (int i = 0; p->share.listed && p->pids[i]; i++)
		bpf_map_update_elem(watched(p), &p->pids[i], &how, BPF_ANY);
}

static int how_listed(const struct probes *p, int pid)
{
	unsigned char how;

	return bpf_map_lookup_elem(watched(p), &pid, &how) ? WATCH_OWN : how;
}

/* ---- With -c */

static void begin(struct probes *p)
{
	if (p->share.impossible || p->on_dso || !uprobes_crowded(p, share_at(p)))
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

	if (p->share.listed)
		return how_listed(p, pid);
	if (how < 0)	/* it has ended, or there was no room for it */
		return WATCH_OWN;
	if (!p->share.on)
		begin(p);
	return p->share.on ? WATCH_SHARED | (how & WATCH_OWN) : WATCH_OWN;
}

void share_scanned(struct probes *p, int pid, int how)
{
	int was = p->tree ? watch_probed(p->watch, pid) : -1;

	/* the watcher's program removes it when the process ends: its number may be another's by now */
	if (p->share.listed)
		bpf_map_update_elem(watched(p), &pid, &(unsigned char){ how }, BPF_EXIST);
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
