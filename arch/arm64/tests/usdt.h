/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Operands of a USDT note's arguments: tests/workloads/usdt.c. */
#ifndef TESTS_USDT_H
#define TESTS_USDT_H

#define USDT_BYTE(value) "r"(value)

/* the pointer ptrs[at], by a register and a displacement */
#define USDT_ELEMENT "8@[%[ptr], 8]"
#define USDT_ELEMENT_OF(ptrs, at) [ptr] "r"((ptrs) + (at) - 1)

#endif
