/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include <bpf/libbpf.h>
#include "abi/filter.h"
#include "base/die.h"
#include "cli/opt.h"
#include "proc/cgroup.h"
#include "session/filter.h"

static void set_cgroup(const struct filter_options *o, struct filter *f)
{
	const char *name = o->cgroup ? o->cgroup : o->container, *why;
	struct cgroup cgroup = { 0 };

	if (!name)
		return;
	if (o->cgroup && o->container)
		usage_error("--cgroup and --container are mutually exclusive");
	why = o->cgroup ? cgroup_find(name, &cgroup) : cgroup_of_container(name, &cgroup);
	if (why)
		die(0, "--%s %s: %s", o->cgroup ? "cgroup" : "container", name, why);
	f->cgroup = cgroup.id;
	f->level = cgroup.level;
}

void filter_prepare(const struct filter_options *o, struct bpf_object *obj)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, ".rodata.filter");
	struct filter f = { .by_uid = o->uid >= 0, .uid = o->uid, .by_comm = o->comm };

	if (!map)
		return;
	/* the kernel keeps 15 bytes of a name */
	if (o->comm)
		memcpy(f.comm, o->comm, strnlen(o->comm, sizeof(f.comm) - 1));
	set_cgroup(o, &f);
	bpf_map__set_initial_value(map, &f, sizeof(f));
}
