/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/quota.h"
#include "proc/helper_pool.h"
#include "proc/living.h"
#include "proc/proc.h"
#include "proc/proc_root.h"
#include "proc/user.h"
#include "sym/jit.h"
#include "sym/perf_map.h"

/* Identifies a version of a file; all zero: none was read. */
struct jit_file {
	unsigned long long dev, ino, size;
	long long modified, changed;	/* ns since the epoch */
};

/* Opens and reads a process's perf map, by a look. */

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
	char line[256], *text = proc_status(proc_living(pid), "Uid", line, sizeof(line));
	unsigned real, effective, saved;

	return text && sscanf(text, "%u %u %u", &real, &effective, &saved) == 3 &&
	       (uid == real || uid == effective || uid == saved);
}

/* A second name may be a link to another user's file that this user cannot read. */
static int jit_check(int pid, const struct stat *st)
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
	real = fstat(fd, st) ? -errno : jit_check(pid, st);
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

/* Reads the file if it is not known: sets *file and *map, which the caller frees; NULL if there is no function in
 * it.  Returns 0, or the error of helper_call(), or -EALREADY if the file is as known says, or why it was not read: -ENOENT,
 * -EINVAL if it is not a regular file with one name, -EPERM if it belongs neither to the process's user nor to root. */
static int jit_file_read(struct helper_pool *helpers, int pid, const struct jit_file *known, struct jit_file *file,
		  struct perf_map **map)
{
	const struct map_request r = { pid, 0, *known };
	struct map_answer answer;
	struct helper_answer a;
	int err = helper_call(helpers, &(struct helper_request){
			pid, "perf map", read_map, &r, sizeof(r), .fd = -1 }, &a);

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

/* A limit on what programs can make the tool keep, beside what is read: bytes. */
enum { MAX_NAMES = 8 << 20 };

/* A map is read again after this time, and takes at most a twentieth of the time. */
static const unsigned long long AGAIN_NS = 100 * 1000000ull;
enum { READ_PART = 20 };

struct jit_process {
	int pid;
	unsigned user;		/* whose quotas it takes from */
	struct perf_map *map;
	struct jit_file file;	/* that was read */
	unsigned long long again;	/* when it may be read again, ns */
	UT_hash_handle hh;
};

struct name {
	UT_hash_handle hh;
	char text[];
};

struct jit_maps {
	struct helper_pool *helpers;
	struct jit_process *processes;
	struct name *names;
	struct quota *memory, names_quota;
};

struct jit_maps *jit_maps_new(struct helper_pool *helpers, struct quota *memory)
{
	struct jit_maps *j = xcalloc(1, sizeof(*j));

	j->helpers = helpers;
	j->memory = memory;
	j->names_quota = (struct quota){
		.limit = MAX_NAMES, .what = "memory for names of generated code",
		.loss = "some functions of its processes have no names",
	};
	return j;
}

static void replace_map(struct jit_maps *j, struct jit_process *p, struct perf_map *map)
{
	if (p->map)
		quota_give(j->memory, p->user, perf_map_size(p->map));
	free(p->map);
	p->map = map;
}

static void forget(struct jit_maps *j, struct jit_process *p)
{
	replace_map(j, p, NULL);
	quota_give(j->memory, p->user, sizeof(*p));
	HASH_DEL(j->processes, p);
	free(p);
}

void jit_forget(struct jit_maps *j, int pid)
{
	struct jit_process *p;

	HASH_FIND_INT(j->processes, &pid, p);
	if (p)
		forget(j, p);
}

void jit_maps_free(struct jit_maps *j)
{
	struct jit_process *p, *next_process;

	if (!j)
		return;
	HASH_ITER(hh, j->processes, p, next_process)
		forget(j, p);
	HASH_FREE(j->names);
	quota_free(&j->names_quota);
	free(j);
}

static struct jit_process *process_of(struct jit_maps *j, int pid)
{
	unsigned user;
	struct jit_process *p;

	HASH_FIND_INT(j->processes, &pid, p);
	if (p)
		return p;
	user = proc_user(pid);
	if (!quota_take(j->memory, user, pid, sizeof(*p)))
		return NULL;
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	p->user = user;
	HASH_ADD_INT(j->processes, pid, p);
	return p;
}

/* Drops names that the file no longer has, as it was begun anew. */
static void read_again(struct jit_maps *j, struct jit_process *p)
{
	unsigned long long began = clock_ns(), ended;
	struct perf_map *map;
	struct jit_file file;
	int err = jit_file_read(j->helpers, p->pid, &p->file, &file, &map);

	ended = clock_ns();
	p->again = ended + AGAIN_NS + (ended - began) * READ_PART;
	if (err)
		return;
	replace_map(j, p, NULL);
	p->file = file;
	if (map && !quota_take(j->memory, p->user, p->pid, perf_map_size(map))) {
		free(map);
		map = NULL;
	}
	p->map = map;
}

/* Names stay when their process is forgotten: stacks have them. */
static const char *keep_name(struct jit_maps *j, const struct jit_process *p, const char *text)
{
	size_t len = strlen(text), size = sizeof(struct name) + len + 1;
	struct name *name;

	HASH_FIND(hh, j->names, text, len, name);
	if (name)
		return name->text;
	if (!quota_take(&j->names_quota, p->user, p->pid, size))
		return NULL;
	name = xcalloc(1, size);
	memcpy(name->text, text, len);
	HASH_ADD(hh, j->names, text[0], len, name);
	return name->text;
}

const char *jit_name(struct jit_maps *j, int pid, unsigned long long addr, unsigned long long *off)
{
	struct jit_process *p = process_of(j, pid);
	const char *name;

	if (!p)
		return NULL;
	if (clock_ns() >= p->again)
		read_again(j, p);
	name = p->map ? perf_map_find(p->map, addr, off) : NULL;
	return name ? keep_name(j, p, name) : NULL;
}
