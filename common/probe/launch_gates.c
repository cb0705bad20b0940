/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "abi/probe_overhead.h"
#include "probe/launch_gates.h"
#include "probe/probes.h"

static struct bpf_map *gates(const struct probes *p)
{
	return bpf_object__find_map_by_name(p->attacher.obj, MAP_LAUNCH_GATES);
}

static struct launch_gate *gate_of_all(const struct probes *p)
{
	size_t size;

	return (struct launch_gate *)bpf_map__initial_value(bpf_object__find_map_by_name(p->attacher.obj, SECTION_LAUNCH_GATE),
							    &size);
}

/* Call after a change of the map. */
static void set_gated(const struct probes *p)
{
	struct bpf_map *map = gates(p);
	int pid;
	bool any = p->split.on || !bpf_map__get_next_key(map, NULL, &pid, sizeof(pid));

	__atomic_store_n(&gate_of_all(p)->gated, any, __ATOMIC_RELEASE);
}

/* Changes the flag of a process.  Returns false if there are too many. */
static bool set_gate(const struct probes *p, int pid, unsigned char flag, bool on)
{
	struct bpf_map *map = gates(p);
	unsigned char was = 0, now;

	bpf_map__lookup_elem(map, &pid, sizeof(pid), &was, sizeof(was), 0);
	now = on ? was | flag : was & ~flag;
	if (now)
		return !bpf_map__update_elem(map, &pid, sizeof(pid), &now, sizeof(now), BPF_ANY);
	bpf_map__delete_elem(map, &pid, sizeof(pid), 0);
	return true;
}

void launch_gates_clear(struct probes *p)
{
	struct bpf_map *map = gates(p);
	int pid;

	while (!bpf_map__get_next_key(map, NULL, &pid, sizeof(pid)) && !bpf_map__delete_elem(map, &pid, sizeof(pid), 0))
		;
	set_gated(p);
}

void launch_gate_close(struct probes *p, int pid, bool closed)
{
	if (!pid) {
		__atomic_store_n(&gate_of_all(p)->closed, closed, __ATOMIC_RELEASE);
		return;
	}
	set_gate(p, pid, LAUNCH_CLOSED, closed);
	set_gated(p);
}

bool launch_gate_own(struct probes *p, int pid)
{
	set_gated(p);		/* first: the links for all must not count what those of the process do */
	return set_gate(p, pid, LAUNCH_OWN, true);
}

void launch_gate_drop(struct probes *p, int pid)
{
	if (!gate_of_all(p)->gated)
		return;
	bpf_map__delete_elem(gates(p), &pid, sizeof(pid), 0);
	set_gated(p);
}
