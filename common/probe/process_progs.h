/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef PROCESS_PROGS_H
#define PROCESS_PROGS_H
#include <stdbool.h>

struct bpf_object;

/* Between open and load: loads the programs of bpf/lib/processes.bpf.h, which tell of processes
 * that have gone, or leaves them out.  Call stacks need them. */
void process_progs_prepare(struct bpf_object *obj, bool wanted);

#endif
