/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Asks NCCL's RAS. */
#ifndef NCCLHANG_RAS_H
#define NCCLHANG_RAS_H
#include "ncclhang/ras_answer.h"

/* Asks the RAS of process pid's job, from within the process's network namespace.  address is that in NCCL_RAS_ADDR,
 * "HOST:PORT" or "[IPv6]:PORT"; NULL: what the process was started with, or localhost:28028.  Connecting may take two
 * seconds, all of it timeout_ms milliseconds: RAS waits for half of it for processes that do not answer, and up to five
 * seconds longer for what they hold up (NCCL itself allows 11 seconds).
 * While the answer lacks the process, RAS is asked again, up to eight times within half of the time.
 * A helper process without privileges does this and reads the answer.  idle is called every few milliseconds meanwhile;
 * false ends the wait; it may be NULL.  Sets all of *r, which the caller gives to ras_free(), and returns r->result. */
enum ras_result ras_ask(struct ras *r, int pid, const char *address, unsigned timeout_ms, bool (*idle)(void *ctx), void *ctx);

#endif
