/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* uthash, whose way to run out of memory is ours, and whose hash function too: with its own,
 * which has no secret, a program can choose addresses and names that all fall into one bucket. */
#ifndef HASH_H
#define HASH_H
#include <errno.h>
#include <stddef.h>
#include "base/die.h"

/* Of bytes, with secret factors that are drawn at the first call.  (Programs see nothing of what
 * it gives, so it need be no more.)  Dies if there are no random numbers to be had. */
unsigned hash_of(const void *bytes, size_t len);

#define HASH_FUNCTION(key, len, value) ((value) = hash_of(key, len))
#define uthash_fatal(msg) die(ENOMEM, "%s", msg)
#include <uthash.h>
#endif
