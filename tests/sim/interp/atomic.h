/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef ATOMIC_H
#define ATOMIC_H

enum atomic_op {
	ATOMIC_ADD, ATOMIC_MIN, ATOMIC_MAX, ATOMIC_AND, ATOMIC_OR, ATOMIC_XOR,	/* as alu.h has them */
	ATOMIC_INC, ATOMIC_DEC, ATOMIC_EXCH, ATOMIC_CAS,
};

#endif
