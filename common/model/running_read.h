/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads what bpf/lib/running.bpf.h tells.  Private to running.c. */
#ifndef RUNNING_READ_H
#define RUNNING_READ_H
#include <stddef.h>
#include "abi/running_call.h"

struct running;

/* A call as it was read; user: who has 1 of the quota taken for it. */
struct running_taken {
	struct running_call call;
	unsigned user;
};

/* Returns *n calls, and threads that may be in one from before; the caller frees them. */
struct running_taken *running_read(struct running *r, size_t *n);

#endif
