/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cudabt/bt_standin.h"
#include "cudabt/bt_trap.h"
#include "cudabt/bt_uprobes.h"
#include "base/die.h"

/* what bpftrace passed */
struct request {
	struct perf_event_attr attr;
	char path[64];		/* config1; empty if it is longer */
};

struct bt_uprobes bt_uprobes_new(const struct bt_files *files, const struct bt_file *standins, int n)
{
	const char *name = "/sys/bus/event_source/devices/uprobe/type";
	struct bt_uprobes u = { .files = files, .standins = standins, .n = n };
	FILE *f = fopen(name, "re");

	if (!f || fscanf(f, "%u", &u.type) != 1)
		die(f ? 0 : errno, "cannot read %s", name);
	fclose(f);
	return u;
}

/* The attributes may be of an older or a newer size than ours. */
static bool read_request(int trap, const struct seccomp_notif *call, struct request *r)
{
	ssize_t n;

	memset(r, 0, sizeof(*r));
	n = bt_trap_read(trap, call, call->data.args[0], &r->attr, sizeof(r->attr));
	if (n < PERF_ATTR_SIZE_VER1)
		return false;
	bt_trap_read(trap, call, r->attr.config1, r->path, sizeof(r->path));
	if (!memchr(r->path, 0, sizeof(r->path)))
		*r->path = 0;
	if (r->attr.size > sizeof(r->attr))
		r->attr.size = sizeof(r->attr);
	return true;
}

/* Returns the number of the file that the uprobe is meant for, or -1. */
static int file_of(const struct bt_uprobes *u, const struct request *r)
{
	for (int i = 0; i < u->n && r->attr.type == u->type; i++)
		if (!strcmp(r->path, u->standins[i].path))
			return i;
	return -1;
}

/* Returns the event, or -errno. */
static int open_uprobe(const struct dso *d, struct request *r, const __u64 *args)
{
	int i = bt_standin_probe(&d->scan, r->attr.config2), fd;
	char path[32];

	if (i < 0)
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", dso_fd(d));
	r->attr.config1 = (unsigned long)path;
	r->attr.config2 = d->scan.probes[i].offset;
	fd = syscall(SYS_perf_event_open, &r->attr, (pid_t)args[1], (int)args[2], (int)args[3], args[4]);
	return fd < 0 ? -errno : fd;
}

void bt_uprobes_answer(struct bt_uprobes *u, int trap, const struct seccomp_notif *call)
{
	struct request r;
	int i = -1, fd;

	if (read_request(trap, call, &r))
		i = file_of(u, &r);
	if (i < 0) {
		bt_trap_continue(trap, call);
		return;
	}
	u->asked++;
	fd = open_uprobe(u->files->dsos[i], &r, call->data.args);
	bt_trap_answer(trap, call, fd);
	if (fd >= 0)
		close(fd);
}
