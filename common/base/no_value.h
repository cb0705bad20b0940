/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef NO_VALUE_H
#define NO_VALUE_H

/* An unknown value in an unsigned long long. */
#define NO_VALUE (~0ull)

#endif
