/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef BPF_PROCESS_PROGS_H
#define BPF_PROCESS_PROGS_H
#include <stdbool.h>

struct bpf_object;

/* Call between open and load: selects whether to load the program of bpf/lib/processes.bpf.h that reports processes that exit, which
 * call stacks need, if the object has it.  That of exec is always loaded: it also drops what threads keep. */
void process_progs_prepare(struct bpf_object *obj, bool wanted);

#endif
