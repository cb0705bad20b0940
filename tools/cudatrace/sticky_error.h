/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What may have caused an error that a call only reports. */
#ifndef STICKY_ERROR_H
#define STICKY_ERROR_H
#include <stdbool.h>
#include "sym/kernel_name.h"

/* If a program launches more kernels between two waits, the rest are counted, not named. */
enum { STICKY_LAUNCHES = 64 };

struct sticky_launch {
	unsigned long long func, stream;
	const struct kernel *kernel;
	unsigned long long count;
};

struct sticky_error {
	bool again;		/* it was reported before */
	int n;
	struct sticky_launch launched[STICKY_LAUNCHES];
	unsigned long long others;	/* launches that did not fit */
};

/* Keep the names of the kernels for a copy, and drop them. */
static inline void sticky_error_hold(const struct sticky_error *e)
{
	for (int i = 0; i < e->n; i++)
		kernel_get(e->launched[i].kernel);
}

static inline void sticky_error_drop(const struct sticky_error *e)
{
	for (int i = 0; i < e->n; i++)
		kernel_put(e->launched[i].kernel);
}

#endif
