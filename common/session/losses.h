/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What each process lost, as bpf/lib/lost.bpf.h counts it. */
#ifndef LOSSES_H
#define LOSSES_H
#include <stddef.h>
#include "abi/lost.h"

struct bpf_map;

struct loss {
	struct lost_key key;
	struct lost_count count;
};

struct losses {			/* starts zeroed */
	struct loss *list;	/* largest first */
	size_t n;
};

/* Reads the map lost_by. */
void losses_read(struct losses *l, const struct bpf_map *map);

/* Returns " (process 12 (a): 34, 56 (b): 7, ...)", who lost most for this reason, or "".  The caller
 * frees it.  It is for warning(), which escapes what it prints. */
char *losses_text(const struct losses *l, enum lost why);

/* Prints a JSON array of the processes, each with what it lost for any reason. */
void losses_json(const struct losses *l);

void losses_free(struct losses *l);

#endif
