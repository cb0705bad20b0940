/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Which device a call works on, as bpf/lib/device.bpf.h finds it: in records and keys 1 + the number
 * that the program has for it, which CUDA_VISIBLE_DEVICES may have changed; 0 = not known. */
#ifndef ABI_DEVICE_H
#define ABI_DEVICE_H

enum { DEVICES = 64 };	/* with greater numbers a device counts as not known */

/* No device, as memory of the host has none. */
#define DEVICE_NONE	(~0u)

/* Where a thread works: 0 = it was not seen to choose; PLACE_DEVICE + n = device n of the runtime, or its
 * primary context; otherwise a CUcontext. */
#define PLACE_DEVICE	(1ull << 63)
#define PLACE_UNKNOWN	1ull	/* it left one for another, unknown one */

/* Set before the programs are loaded. */
struct device_config {
	unsigned long long only;	/* bit n: calls on device n; 0: on every device */
	unsigned int alone;		/* mask of enum cuda_class: probed only for what follows from
					 * them, and not of interest to the tool */
	unsigned int unused;
};

/* Shared with the running programs. */
struct device_state {
	unsigned long long since;	/* threads that began later are seen from their first call on:
					 * CLOCK_MONOTONIC, ns; ~0: none is */
	unsigned long long unknown;	/* calls left out, as only some devices were wanted */
	unsigned int generation;	/* changes with what is known of handles */
};

/* A device that is in the 16 bits of a key. */
static inline unsigned int device_of_key(unsigned short device)
{
	return device == (unsigned short)DEVICE_NONE ? DEVICE_NONE : device;
}

/* Return true if the mask has this device, which is as in records. */
static inline int device_is_in(unsigned long long mask, unsigned int device)
{
	return device && device <= DEVICES && mask >> (device - 1) & 1;
}

#endif
