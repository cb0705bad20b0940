/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What a call stack is made of.  For syms.c and stack.c alone. */
#ifndef FRAMES_H
#define FRAMES_H
#include "base/hash.h"

struct module;

struct stack_frame {
	struct module *module;	/* NULL: not known, at is the address */
	unsigned long long at;	/* the file offset */
};

struct stack {
	UT_hash_handle hh;
	int n;
	struct stack_frame frames[];
};

#endif
