/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The registers of threads that the kernel does not tell of: with --attach inject.  Private to running_read.c. */
#ifndef RUNNING_SHARED_H
#define RUNNING_SHARED_H
#include <stdbool.h>
#include "abi/running_call.h"

struct running;

/* Completes a call: the registers of the function's caller.  Return false if the thread has left the call. */
bool running_shared(struct running *r, struct running_call *c);

#endif
