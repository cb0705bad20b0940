/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Runtime: the functions that are not simulated: they say so, and begin as NVIDIA's do. */
#define REST(name) \
	int name(void); \
	__attribute__((visibility("default"))) int name(void) \
	{ \
		__asm__ volatile("" : : "r"(__builtin_frame_address(0))); \
		return 801;	/* cudaErrorNotSupported */ \
	}

#include "rt_rest.def"
