/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef DEMANGLE_H
#define DEMANGLE_H

/* A C++ symbol as it is written in the source; the symbol itself if it is none, if its text
 * would be longer than 4 KiB (a few hundred bytes can stand for gigabytes), or if it takes more
 * than 20 ms to make; after fifty of those, any symbol of more than 128 bytes.  Static storage,
 * good until the next call.  For one thread; see base/cpu_limit.h. */
const char *demangle(const char *symbol);

/* The same without a function's parameters and return type: "fill<int>". */
const char *demangle_brief(const char *symbol);

#endif
