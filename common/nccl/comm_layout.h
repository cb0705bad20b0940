/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Where NCCL's communicators have what is read of them: the code of libnccl says it. */
#ifndef NCCL_COMM_LAYOUT_H
#define NCCL_COMM_LAYOUT_H
#include <stddef.h>

enum { CODE_SIZE = 1024 };

/* Of a function, from its beginning. */
struct code {
	unsigned char bytes[CODE_SIZE];
	size_t size;
};

/* Returns the byte of a struct ncclComm with its rank; 0 if that is not certain.  The other two are beside it:
 * uint64_t commHash; int rank, nRanks, cudaDev (src/include/comm.h of NCCL 2.18 to 2.30, and as far as the code goes of 2.32; before that there is no hash). */
unsigned comm_layout_rank(const struct code *user_rank, const struct code *count, const struct code *cu_device);

#endif
