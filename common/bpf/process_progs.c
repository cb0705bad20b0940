/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "bpf/process_progs.h"

void process_progs_prepare(struct bpf_object *obj, bool wanted)
{
	struct bpf_program *exits = bpf_object__find_program_by_name(obj, PROG_PROCESS_EXIT);

	if (exits)
		bpf_program__set_autoload(exits, wanted);
}
