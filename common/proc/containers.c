/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "base/hash.h"
#include "proc/containers.h"

/* If the ends of so many went unseen, all are looked up again. */
enum { MAX_KEPT = 32768 };

struct container_of {
	int pid;
	char id[CONTAINER_ID];	/* "": none */
	UT_hash_handle hh;
};

static struct container_of *find(const struct containers *c, int pid)
{
	struct container_of *p;

	HASH_FIND_INT(c->by_pid, &pid, p);
	return p;
}

static struct container_of *add(struct containers *c, int pid)
{
	struct container_of *p;

	if (HASH_COUNT(c->by_pid) >= MAX_KEPT)
		containers_free(c);
	p = xcalloc(1, sizeof(*p));
	p->pid = pid;
	if (!cgroup_container(pid, p->id))
		*p->id = '\0';
	HASH_ADD_INT(c->by_pid, pid, p);
	return p;
}

const char *containers_of(struct containers *c, int pid)
{
	struct container_of *p = c->last;

	if (!p || p->pid != pid)
		p = find(c, pid) ?: add(c, pid);
	c->last = p;
	return *p->id ? p->id : NULL;
}

static void drop(struct containers *c, struct container_of *p)
{
	HASH_DEL(c->by_pid, p);
	if (c->last == p)
		c->last = NULL;
	free(p);
}

void containers_forget(struct containers *c, int pid)
{
	struct container_of *p = find(c, pid);

	if (p)
		drop(c, p);
}

void containers_free(struct containers *c)
{
	struct container_of *p, *next;

	HASH_ITER(hh, c->by_pid, p, next)
		drop(c, p);
}
