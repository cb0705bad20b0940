/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The account of a process's memory: of what the memory of its devices consists, by the library that allocated it. */
#ifndef ACCOUNT_H
#define ACCOUNT_H
#include <stdbool.h>
#include <stddef.h>

struct mem_process;
struct memory_event;

enum { ACCOUNT_OWNER = 64 };

/* What is not known of a row. */
#define ACCOUNT_UNKNOWN (~0ull)

/* What one owner holds on a device, or a part of it. */
struct account_row {
	char owner[ACCOUNT_OWNER];	/* the library or program */
	const char *part;		/* "tensors" or "free"; NULL: all of it */
	unsigned int device;		/* see abi/device.h */
	unsigned long long bytes, count, largest;	/* largest: free piece; else ACCOUNT_UNKNOWN */
};

struct account {
	struct account_row *rows;
	size_t n, room;
};

/* Returns the account of what the process holds now: by device, the largest first; an owner of parts has no row of its own;
 * empty for NULL.  The caller frees it by account_free(). */
struct account account_of(const struct mem_process *process);
void account_free(struct account *account);

/* Return true if the record is one of an allocation that failed for lack of memory and whose process had no such failure in
 * the last second: some programs then free memory and try again. */
bool account_is_due(struct mem_process *process, const struct memory_event *event);

#endif
