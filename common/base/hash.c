/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdint.h>
#include <string.h>
#include <sys/random.h>
#include "base/hash.h"

/* The upper half of a product depends on all bits of both factors, and one factor is secret. */
static uint64_t mix(uint64_t a, uint64_t b)
{
	unsigned __int128 product = (unsigned __int128)a * b;

	return product ^ product >> 64;
}

unsigned hash_of(const void *bytes, size_t len)
{
	static uint64_t secret[2];
	static bool drawn;
	const char *at = bytes;
	uint64_t hash, word = 0;

	if (!drawn && getrandom(secret, sizeof(secret), 0) != sizeof(secret))
		die(errno, "cannot get random numbers");
	drawn = true;
	hash = secret[0] ^ len;
	for (; len >= sizeof(word); len -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = mix(hash ^ word, secret[1]);
	}
	if (len) {
		word = 0;
		memcpy(&word, at, len);
		hash = mix(hash ^ word, secret[1]);
	}
	return mix(hash, secret[0]);
}
