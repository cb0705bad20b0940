/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The account of a process's memory: of what the memory of its devices consists, by the library that allocated it. */
#ifndef MODEL_ACCOUNT_H
#define MODEL_ACCOUNT_H
#include <stdbool.h>
#include <stddef.h>

struct mem_process;
struct memory_event;

enum { ACCOUNT_OWNER = 64, ACCOUNT_MADE = 128 };

/* Unknown parts of a row. */
#define ACCOUNT_UNKNOWN (~0ull)

enum account_part {
	ACCOUNT_ALL,		/* what the owner has allocated */
	ACCOUNT_TENSORS,	/* of that: tensors … */
	ACCOUNT_FREE,		/* … and what its allocator holds beside these */
	ACCOUNT_IMPORTED,	/* memory that other processes have allocated, which NVML reports as theirs */
	/* in what NVML reports beyond allocations, where the driver has used them: */
	ACCOUNT_CONTEXT,	/* contexts that the owner has made; bytes ACCOUNT_UNKNOWN */
	ACCOUNT_GRAPHS,		/* what nodes of the largest graph allocate and free: in the device's pool for graphs; the count ACCOUNT_UNKNOWN */
	ACCOUNT_CODE,		/* images that the owner has loaded */
	ACCOUNT_LIMIT,		/* a limit of the device: the owner is its name, the count ACCOUNT_UNKNOWN */
};

/* Memory of one owner on a device, or a part of it. */
struct account_row {
	char owner[ACCOUNT_OWNER];	/* the library or program */
	char made[ACCOUNT_MADE];	/* ACCOUNT_CONTEXT: where the first one was made, a line of Python or the owner's function; "": unknown */
	enum account_part part;
	unsigned long long first;	/* ACCOUNT_CONTEXT: when that was, ns */
	bool by_default;		/* ACCOUNT_LIMIT: the program has not set it */
	unsigned int device;		/* see abi/device.h */
	unsigned long long bytes, count, largest;	/* bytes: ACCOUNT_UNKNOWN for images without a size;
							 * largest: free piece; else ACCOUNT_UNKNOWN */
};

/* Return true if the row is memory that the process has allocated itself. */
static inline bool account_is_held(const struct account_row *row)
{
	return row->part < ACCOUNT_IMPORTED;
}

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
