/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Operands of a USDT note's arguments: tests/workloads/usdt.c. */
#ifndef TESTS_USDT_H
#define TESTS_USDT_H

/* in a register that has a name for its lowest byte */
#define USDT_BYTE(value) "q"(value)

/* the pointer ptrs[at], by two registers */
#define USDT_ELEMENT "8@8(%[ptr],%[at],8)"
#define USDT_ELEMENT_OF(ptrs, at_) [ptr] "r"((ptrs) - 1), [at] "r"(at_)

#endif
