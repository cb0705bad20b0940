/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The frames of a call stack.  Private to syms.c and stack.c. */
#ifndef FRAMES_H
#define FRAMES_H
#include "base/hash.h"

struct module;

struct stack_frame {
	struct module *module;	/* NULL: unknown, and at is the address */
	unsigned long long at;	/* the file offset */
};

struct stack {
	UT_hash_handle hh;
	int n;
	struct stack_frame frames[];
};

#endif
