/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/clock.h"
#include "base/die.h"
#include "base/hash.h"
#include "base/quota.h"
#include "proc/helper_pool.h"
#include "proc/users.h"
#include "sym/jit.h"
#include "sym/jit_file.h"
#include "sym/perf_map.h"

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
	struct name *name, *next_name;

	if (!j)
		return;
	HASH_ITER(hh, j->processes, p, next_process)
		forget(j, p);
	HASH_ITER(hh, j->names, name, next_name) {
		HASH_DEL(j->names, name);
		free(name);
	}
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

/* What the file no longer has, as it was begun anew, is not kept. */
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
