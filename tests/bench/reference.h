/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef TESTS_BENCH_REFERENCE_H
#define TESTS_BENCH_REFERENCE_H

enum reference_level {
	REFERENCE_EMPTY,
	REFERENCE_TIME,		/* the total time of calls by function */
	REFERENCE_RECORD	/* 64 bytes at each return: times, arguments, thread, comm */
};

#endif
