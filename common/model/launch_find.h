/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The programs and counters of launches, made where they are new. */
#ifndef LAUNCH_FIND_H
#define LAUNCH_FIND_H
#include "model/launch_counter.h"

/* Returns the program with this id.  comm: its name if it is gone, or NULL; parent: the id of the program
 * that it is a copy of, or 0. */
struct launch_program *launch_program_of(struct programs *all, unsigned long long id, int pid,
					 const char *comm, unsigned long long parent);

/* Returns the counter with this key, NULL if there are too many. */
struct counter *launch_counter_of(struct counters *cs, struct programs *all, const struct launch_key *key,
				  const char *comm);

/* Looks its kernel's name up, while the program is alive. */
void launch_look(struct counter *c);

#endif
