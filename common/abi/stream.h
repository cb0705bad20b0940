/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Streams, as in records and keys: the handle that the program has for it; 0 = none, or not known. */
#ifndef ABI_STREAM_H
#define ABI_STREAM_H

/* The default streams of a device and of a thread, as cudaStreamLegacy and cudaStreamPerThread. */
enum { STREAM_LEGACY = 1, STREAM_PER_THREAD };

#endif
