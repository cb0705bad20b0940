/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "abi/call_filter.h"
#include "base/die.h"
#include "cli/opt.h"
#include "proc/cgroup.h"
#include "proc/proc.h"
#include "proc/user.h"
#include "proc/user_entry.h"
#include "session/process_filter.h"

static const char *read_cgroup(const struct filter_options *o, struct filter *f)
{
	struct cgroup cgroup = { 0 };
	const char *why = NULL;

	if (o->cgroup && o->container)
		usage_error("--cgroup and --container are mutually exclusive");
	if (o->cgroup || o->container)
		why = o->cgroup ? cgroup_find(o->cgroup, &cgroup) : cgroup_of_container(o->container, &cgroup);
	if (why)
		return why;
	f->cgroup = cgroup.id;
	f->level = cgroup.level;
	return NULL;
}

/* A number need not be in any list of users. */
static unsigned int read_user(const char *user)
{
	struct user_entry entry;
	uid_t uid;
	int err;

	if (user_id_parse(user, &uid))
		return uid;
	err = user_entry_find(&entry, user);
	if (err == -ENOENT)
		usage_error("--uid: '%s' is not the name of a user, nor a UID", user);
	if (err)
		die(err, "cannot run getent to look up user %s", user);
	uid = entry.uid;
	user_entry_free(&entry);
	return uid;
}

char *filter_read(const struct filter_options *o, struct filter *f)
{
	const char *why;

	*f = (struct filter){ .by_uid = o->user, .by_comm = o->comm };
	if (o->user)
		f->uid = read_user(o->user);
	/* the kernel keeps 15 bytes of a name */
	if (o->comm)
		memcpy(f->comm, o->comm, strnlen(o->comm, sizeof(f->comm) - 1));
	why = read_cgroup(o, f);
	return !why ? NULL : o->cgroup ? xprintf("--cgroup %s: %s", o->cgroup, why) :
	       xprintf("--container %s: %s", o->container, why);
}

void filter_prepare(const struct filter_options *o, struct bpf_object *obj, struct filter *f)
{
	struct bpf_map *map = bpf_object__find_map_by_name(obj, SECTION_FILTER);
	char *why;

	if (!map)
		return;
	why = filter_read(o, f);
	if (why)
		die(0, "%s", why);
	bpf_map__set_initial_value(map, f, sizeof(*f));
}

bool filter_is_set(const struct filter *f)
{
	return f->by_uid || f->by_comm || f->cgroup;
}

bool filter_wants(const struct filter *f, int pid)
{
	char comm[FILTER_COMM];

	if (f->by_uid && proc_real_user(pid) != f->uid)
		return false;
	if (f->cgroup && !cgroup_has(f->cgroup, pid))
		return false;
	return !f->by_comm || (proc_comm(pid, comm) && !strncmp(comm, f->comm, sizeof(comm)));
}

char *filter_text(const struct filter_options *o)
{
	const struct { const char *name, *value; } options[] = {
		{ "comm", o->comm }, { "uid", o->user }, { "cgroup", o->cgroup }, { "container", o->container },
	};
	char *text = xstrdup("");

	for (size_t i = 0; i < sizeof(options) / sizeof(*options); i++) {
		char *longer;

		if (!options[i].value)
			continue;
		longer = xprintf("%s%s--%s %s", text, *text ? " " : "", options[i].name, options[i].value);
		free(text);
		text = longer;
	}
	return text;
}
