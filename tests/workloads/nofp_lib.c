/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* libnofp.so: a library in the middle of a stack; libbare.so: the same without unwind tables;
 * libnofp-far.so: the same with its functions at other addresses, and of other frames.
 */
#include <stdint.h>

#include "nofp.h"

int lib_call(call_fn fn);

#ifdef FAR
__asm__(".text\n.skip 1009, 0x90\n");
#else
#define FAR 0
#endif

FRAME static int lib_inner(call_fn fn)
{
	volatile char room[72 + FAR];
	int ret;

	room[7] = 1;
	ret = fn();
	return ret + room[7] - 1;
}

FRAME int lib_call(call_fn fn)
{
	volatile uint64_t room[23];
	int ret;

	room[11] = 0;
	ret = lib_inner(fn);
	return ret + (int)room[11];
}
