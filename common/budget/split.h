/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Links for launches that can be detached in one process.
 *
 * Without -p and -c one link probes a file in all processes.  To detach the probes of launches in one of them, each process gets
 * links of its own for launches, before those for all go.  No call is missed or counted twice meanwhile: the map launch_gates
 * decides which link counts.  For each such link a hit takes 35 ns more in every process, so there are a few only. */
#ifndef BUDGET_SPLIT_H
#define BUDGET_SPLIT_H
#include <stdbool.h>

struct probes;

/* Gives each process that has mapped CUDA links of its own for launches.  Returns false if one link is not in all processes, or
 * if there are too many processes. */
bool split_begin(struct probes *p);

/* Return true if there were too many processes, and it is time to try split_begin() again: after a minute, and after twice the
 * time, at most an hour, if there were too many again within that time. */
bool split_again(const struct probes *p);

/* Goes back to links for all; call it until split_is_on() is false. */
void split_end(struct probes *p);

bool split_is_on(const struct probes *p);

/* Call regularly: detaches links once the calls that they saw have returned. */
void split_tick(struct probes *p);

/* Call for a process that has made its first call: it may be a child that has forked and mapped nothing. */
void split_seen(struct probes *p, int pid);

/* Call when a process has ended. */
void split_ended(struct probes *p, int pid);

#endif
