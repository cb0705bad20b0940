/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef PROCESS_PROGS_H
#define PROCESS_PROGS_H
#include <stdbool.h>

struct bpf_object;

/* Call between open and load: selects whether to load the programs of bpf/lib/processes.bpf.h,
 * which report processes that exit or exec.  Call stacks need them. */
void process_progs_prepare(struct bpf_object *obj, bool wanted);

#endif
