/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads what bpf/lib/inflight.bpf.h tells.  Private to running.c. */
#ifndef INFLIGHT_READ_H
#define INFLIGHT_READ_H
#include <stddef.h>
#include "abi/inflight_call.h"

struct inflight;

/* A call as it was read; user: who has 1 of the quota taken for it. */
struct inflight_taken {
	struct inflight_call call;
	unsigned user;
};

/* Returns *n calls, and threads that may be in one from before; the caller frees them. */
struct inflight_taken *inflight_read(struct inflight *r, size_t *n);

#endif
