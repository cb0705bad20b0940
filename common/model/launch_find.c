/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "model/launch_find.h"
#include "model/launch_retire.h"
#include "proc/proc.h"

struct launch_program *launch_program_of(struct programs *all, unsigned long long id, int pid,
					 const char *comm, unsigned long long parent)
{
	struct program *known = programs_find(all, id);
	struct launch_program *p;

	if (known)
		return (struct launch_program *)known;
	p = (struct launch_program *)(parent ? programs_fork(all, parent, id, pid) :
				      programs_get(all, id, pid));
	if (!proc_comm(pid, p->comm) && comm)
		memcpy(p->comm, comm, sizeof(p->comm) - 1);
	return p;
}

struct counter *launch_counter_of(struct counters *cs, struct programs *all, const struct launch_key *key,
				  const char *comm)
{
	struct counter *c = counter_find(cs, key);
	struct launch_program *p;

	if (c)
		return c;
	p = launch_program_of(all, key->program, key->pid, comm, 0);
	c = counter_new(cs, key, p);
	if (c)
		counter_begins(cs, c);
	return c;
}

void launch_look(struct counter *c)
{
	if (c->key.kind != LAUNCH_GRAPH && !c->fixed && !c->program->over)
		program_look(&c->program->program, c->key.func);
}
