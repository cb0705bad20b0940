/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#ifndef REFERENCE_H
#define REFERENCE_H

enum reference_level {
	REFERENCE_EMPTY,
	REFERENCE_TIME,		/* the time of each call, added up by function */
	REFERENCE_RECORD	/* a record of 64 bytes at each return: times, arguments, who */
};

#endif
