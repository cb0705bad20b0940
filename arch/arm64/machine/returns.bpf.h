/* SPDX-License-Identifier: GPL-2.0 */
/* Where arm64 has the return address of a function: at its entry in x30, then in its frame record, which may be anywhere in
 * its frame.  Frame records are a list: x29 has the innermost one's address (AAPCS64, 6.4.6). */
#ifndef MACHINE_RETURNS_BPF_H
#define MACHINE_RETURNS_BPF_H
#ifndef LIB_TASK_BPF_H
#error "include lib/task.bpf.h before this"
#endif
#include "machine/regs.bpf.h"

enum { FRAME_RECORDS = 64 };	/* that are read */

/* As return_stored(), from these registers.  The function's frame is below entry, its caller's record at entry or above.
 * Not static: the verifier checks it once. */
__noinline __u64 frame_return(__u64 entry, __u64 fp, __u64 lr, __u64 sp)
{
	__u64 record[2] = {};

	if (sp == entry)	/* at the entry of a function that was called, or jumped to, with this stack pointer */
		return CODE_ADDRESS(lr);
	for (int i = 0; i < FRAME_RECORDS; i++) {
		if (fp < sp || fp >= entry || bpf_probe_read_user(record, sizeof(record), (void *)fp))
			break;
		if (record[0] >= entry)
			return CODE_ADDRESS(record[1]);
		sp = fp + sizeof(record);
		fp = record[0];
	}
	return 0;
}

/* The return address of a function that was entered with this stack pointer and has not returned; 0: unknown. */
static __always_inline __u64 return_stored(const struct pt_regs *ctx, __u64 entry)
{
	const machine_regs *regs = (const void *)ctx;

	return frame_return(entry, regs->regs[29], regs->regs[30], regs->sp);
}

#endif
