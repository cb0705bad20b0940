/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "proc/helper_pool.h"
#include "proc/proc.h"
#include "proc/proc_root.h"
#include "sym/jit_file.h"
#include "sym/perf_map.h"

struct map_request {
	int pid, unused;
	struct jit_file known;
};

/* The map follows. */
struct map_answer {
	long long err;
	struct jit_file file;
};

static unsigned long long ns_of(const struct timespec *t)
{
	return t->tv_sec * 1000000000ull + t->tv_nsec;
}

/* Return true if this is one of the process's users: what it wrote before setuid() counts. */
static bool is_user(int pid, uid_t uid)
{
	unsigned real = 0, effective = 0, saved = 0;
	char name[32], line[256];
	bool found = false;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/status", pid);
	f = fopen(name, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		found = sscanf(line, "Uid: %u %u %u", &real, &effective, &saved) == 3;
	if (f)
		fclose(f);
	return found && (uid == real || uid == effective || uid == saved);
}

/* A second name may be a link to somebody else's file that this user cannot read. */
static int check(int pid, const struct stat *st)
{
	if (st->st_nlink > 1)
		return -EINVAL;
	return !st->st_uid || is_user(pid, st->st_uid) ? 0 : -EPERM;
}

static int open_map(int pid, struct stat *st)
{
	int inner = proc_inner_pid(pid), fd, real;
	char name[32];

	if (!inner)
		return -ESRCH;
	snprintf(name, sizeof(name), "perf-%d.map", inner);
	fd = proc_root_open_in(pid, "tmp", name);
	if (fd < 0)
		return fd;
	real = fstat(fd, st) ? -errno : check(pid, st);
	if (!real)
		real = proc_reopen(fd);
	close(fd);
	return real;
}

static void read_map(struct helper_job *job)
{
	const struct map_request *r = job->in;
	struct map_answer answer = { 0 };
	struct perf_map *map = NULL;
	struct stat st;
	int fd = open_map(r->pid, &st);

	answer.err = fd < 0 ? fd : 0;
	if (fd >= 0) {
		answer.file = (struct jit_file){
			st.st_dev, st.st_ino, st.st_size, ns_of(&st.st_mtim), ns_of(&st.st_ctim),
		};
		if (!memcmp(&answer.file, &r->known, sizeof(answer.file)))
			answer.err = -EALREADY;
		else
			map = perf_map_load(fd);
		close(fd);
	}
	helper_put(job, &answer, sizeof(answer));
	helper_put(job, map, map ? perf_map_size(map) : 0);
	free(map);
}

int jit_file_read(struct helper_pool *helpers, int pid, const struct jit_file *known, struct jit_file *file,
		  struct perf_map **map)
{
	const struct map_request r = { pid, 0, *known };
	struct map_answer answer;
	struct helper_answer a;
	int err = helper_call(helpers, pid, "perf map", read_map, &r, sizeof(r), -1, &a);

	if (err)
		return err;
	memcpy(&answer, a.bytes, sizeof(answer));
	*file = answer.file;
	*map = NULL;
	if (!answer.err && a.size > sizeof(answer)) {
		/* at the start of what malloc() returned, so that it can be freed */
		memmove(a.bytes, a.bytes + sizeof(answer), a.size - sizeof(answer));
		*map = (struct perf_map *)a.bytes;
		a.bytes = NULL;
	}
	helper_drop(&a);
	return answer.err;
}
