/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* uthash with our own out-of-memory handler and hash function.  uthash's own hash has no
 * secret, so a program could choose addresses and names that all fall into one bucket. */
#ifndef BASE_HASH_H
#define BASE_HASH_H
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include "base/die.h"

/* Hashes bytes with secret factors drawn at the first call.  (Programs never see a hash, so this
 * is strong enough.)  Dies if the kernel provides no random numbers. */
unsigned hash_of(const void *bytes, size_t len);

#define HASH_FUNCTION(key, len, value) ((value) = hash_of(key, len))
#define uthash_fatal(msg) die(ENOMEM, "%s", msg)
#include <uthash.h>

/* Frees all elements of a table, which is empty then. */
#define HASH_FREE(head) do {									\
	__typeof__(head) hash_element_, hash_next_;						\
												\
	HASH_ITER(hh, head, hash_element_, hash_next_) {					\
		HASH_DEL(head, hash_element_);							\
		free(hash_element_);								\
	}											\
} while (0)

#endif
