/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <linux/bpf.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "abi/process.h"
#include "abi/record.h"
#include "abi/shares.h"
#include "base/clock.h"
#include "bpf/map_backend.h"
#include "proc/proc.h"
#include "session/inject_events.h"
#include "session/record_queue.h"

void inject_events_open(struct inject_events *e, const struct bpf_object *obj, struct record_queue *queue)
{
	struct bpf_map *shares = bpf_object__find_map_by_name(obj, ".data.processes");
	size_t size = 0;

	*e = (struct inject_events){
		.processes = bpf_object__find_map_by_name(obj, "processes"), .queue = queue,
		.shares = shares ? (struct shares *)bpf_map__initial_value(shares, &size) : NULL,
		.exec_stays = bpf_object__find_program_by_name(obj, "trace_exec"),
	};
	if (!e->shares || bpf_map__value_size(e->processes) != sizeof(struct process))
		e->processes = NULL;
}

static bool find(const struct inject_events *e, unsigned pid, struct process *p)
{
	return e->processes && !bmap_lookup(e->processes, &pid, p);
}

static void drop(struct inject_events *e, unsigned pid, const struct process *p)
{
	if (!bmap_delete(e->processes, &pid))
		shares_give_back(e->shares, p->share);
}

/* The child's share is its parent's user's. */
static bool add(struct inject_events *e, unsigned pid, unsigned long long program, unsigned share)
{
	struct process p = { .program = program, .share = share % SHARES_USERS };

	if (bmap_update(e->processes, &pid, &p, BPF_NOEXIST))
		return false;
	__atomic_fetch_add(&e->shares->used, 1, __ATOMIC_RELAXED);
	__atomic_fetch_add(&e->shares->of[p.share], 1, __ATOMIC_RELAXED);
	return true;
}

/* comm_of: the process whose name goes into the record, if it still has one. */
static void put(struct inject_events *e, struct process_event *event, int comm_of)
{
	event->time = clock_ns();
	if (!proc_comm(comm_of, event->comm))
		memset(event->comm, 0, sizeof(event->comm));
	record_queue_put(e->queue, event, sizeof(*event));
}

void inject_events_forked(struct inject_events *e, int pid, int parent)
{
	struct process_event event = { .head = { pid, RECORD_FORK, 0 }, .parent = parent };
	struct process from, stale;

	if (!find(e, parent, &from))
		return;
	if (find(e, pid, &stale))
		drop(e, pid, &stale);
	event.program = clock_ns();
	event.parent_program = from.program;
	if (add(e, pid, event.program, from.share))
		put(e, &event, parent);
	else
		e->lost++;
}

void inject_events_execed(struct inject_events *e, int pid)
{
	struct process_event event = { .head = { pid, RECORD_EXEC, 0 } };
	struct process was, now;
	unsigned key = pid;

	if (!find(e, pid, &was))
		return;
	now = was;
	now.program = clock_ns();
	if (!e->exec_stays || bmap_update(e->processes, &key, &now, BPF_EXIST))
		drop(e, pid, &was);
	event.program = was.program;
	put(e, &event, pid);
}

void inject_events_exited(struct inject_events *e, int pid)
{
	struct process_event event = { .head = { pid, RECORD_EXIT, 0 } };
	struct process was;

	if (!find(e, pid, &was))
		return;
	drop(e, pid, &was);
	event.program = was.program;
	put(e, &event, pid);
}
