/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef NO_VALUE_H
#define NO_VALUE_H

/* Stands in an unsigned long long for a value that is not known. */
#define NO_VALUE (~0ull)

#endif
