/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Losses of a tool's probes, in all and by process: the last lines that a tool prints. */
#ifndef SESSION_LOSSES_H
#define SESSION_LOSSES_H
#include <stddef.h>
#include "abi/lost.h"

struct bpf_map;
struct stack_losses;

/* Losses of a process, as bpf/lib/lost.bpf.h counts them. */
struct loss {
	struct lost_key key;
	struct lost_count count;
};

struct losses {			/* starts zeroed */
	struct loss *list;	/* largest first */
	size_t n;
};

/* Adds what one process lost otherwise; call it before losses_read(). */
void losses_add(struct losses *l, unsigned pid, enum lost why, unsigned long long n);

/* Reads the map lost_by. */
void losses_read(struct losses *l, const struct bpf_map *map);

/* Prints what was lost, if anything, by enum lost, and by which processes, and how many call stacks
 * are incomplete: to standard error, and with -j also as the last line of output.  Frees the list. */
void losses_print(struct losses *l, const unsigned long long *lost, const struct stack_losses *stacks);

void losses_free(struct losses *l);

#endif
