/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The registers of threads that the kernel does not tell of: with --attach inject.  Private to inflight_read.c. */
#ifndef INFLIGHT_SHARED_H
#define INFLIGHT_SHARED_H
#include <stdbool.h>
#include "abi/inflight_call.h"

struct inflight;

/* Completes a call: the registers of the function's caller.  Return false if the thread has left the call. */
bool inflight_shared(struct inflight *r, struct inflight_call *c);

#endif
