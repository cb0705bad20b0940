/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef PROCESSES_H
#define PROCESSES_H
#include <stdbool.h>

struct bpf_object;

/* Between open and load: are the programs of bpf/processes.bpf.h wanted, which tell of
 * processes that have gone?  With call stacks they are. */
void process_progs_prepare(struct bpf_object *obj, bool wanted);

#endif
