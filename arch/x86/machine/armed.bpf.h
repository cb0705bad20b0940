/* SPDX-License-Identifier: GPL-2.0 */
/* Whether the kernel awaits the return of a function, on x86-64. */
#ifndef MACHINE_ARMED_BPF_H
#define MACHINE_ARMED_BPF_H
#include "machine/returns.bpf.h"

/* While a return probe is armed, the kernel has replaced the return address by that of its
 * trampoline, which is the start of a page (kernel/events/uprobes.c, uprobe_get_trampoline_vaddr:
 * slot 0 of the area). */
static __always_inline bool is_armed(__u64 entry)
{
	__u64 slot = return_stored(NULL, entry);

	return slot && !(slot & 0xfff);
}

#endif
