/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Tells the programs where USDT probes have their arguments: the map usdt_sets of bpf/lib/usdt.bpf.h. */
#ifndef PROBE_USDT_SETS_H
#define PROBE_USDT_SETS_H

struct probes;
struct usdt_args;

/* Returns 1 + the number of these places in the map, where they are from now on; 0 if there is no room, or if
 * the programs have no such map.  pid: whose file it is, for its user's quota; 0: no user's. */
unsigned usdt_set_of(struct probes *p, const struct usdt_args *args, int pid);

void usdt_sets_free(struct probes *p);

#endif
