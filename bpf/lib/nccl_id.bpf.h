/* SPDX-License-Identifier: GPL-2.0 */
/* The hash by which messages of NCCL name a communicator, of the ncclUniqueId that it is made by. */
#ifndef LIB_NCCL_ID_BPF_H
#define LIB_NCCL_ID_BPF_H
#include "lib/call.bpf.h"

enum { ID_WORDS = 16 };	/* nccl.h: NCCL_UNIQUE_ID_BYTES is 128 */

/* Since 2.26 (src/include/bitops.h: getHash(), src/init.cc: commHash). */
static __always_inline __u64 hash_of_id(const __u64 *id)
{
	__u64 a = 1 ^ ID_WORDS * 8, b = 1;

	for (int i = 0; i < ID_WORDS; i++) {
		a += b;
		b ^= a;
		a ^= a >> 31;
		a *= 0x9de62bbc8cef3ce3;
		b ^= b >> 32;
		b *= 0x485cd6311b599e79;
		a += id[i];
	}
	a ^= a >> 31;
	a *= 0xbac3bd562846de6b;
	a += b;
	a ^= a >> 32;
	return a * 0x995a187a14e7b445;
}

/* Call at the entry; id is room for the ncclUniqueId.  Returns 0 if the call has none. */
static __always_inline __u64 hash_at_entry(const struct call *call, const struct cuda_args *row, __u64 id[ID_WORDS])
{
	__u64 at = row->commids ? cuda_arg(call, row->commids) : row->commid ? struct_arg_at(call, row->commid) : 0;

	if (!at)
		return 0;
	if (bpf_probe_read_user(id, ID_WORDS * sizeof(*id), (void *)at)) {
		lose(LOST_READ);
		return 0;
	}
	return hash_of_id(id);
}

#endif
