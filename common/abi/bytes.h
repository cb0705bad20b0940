/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* How many bytes a call allocates, copies or sets, and in which direction: found by
 * bpf/lib/bytes.bpf.h. */
#ifndef ABI_BYTES_H
#define ABI_BYTES_H
#include <stdbool.h>

struct bytes {
	unsigned long long n;
	unsigned long long pitch;	/* where the call stores a factor for n; 0 = none */
	unsigned int direction;	/* of a copy: enum cuda_direction */
	bool elements;		/* n counts elements of an array, not bytes */
};

#endif
