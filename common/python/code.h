/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the code objects are called that bpf/lib/python_code.bpf.h numbered. */
#ifndef CODE_H
#define CODE_H
#include "abi/python.h"
#include "base/hash.h"
#include "base/quota.h"
#include "python/line_table.h"
#include "python/python.h"

struct looks;

/* Code that looks the same, in any process. */
struct code_name {
	UT_hash_handle hh;
	struct python_code code;
	unsigned size;		/* of key, in bytes */
	char key[];		/* first line, name and file */
};

struct code {
	UT_hash_handle hh, at;	/* by number; by process and address */
	struct python_code_key key;
	struct python_code_value value;
	const struct code_name *name;	/* NULL: no memory */
	unsigned user;		/* whose quota it takes from */
	size_t nlines;
	struct line_range *lines;
	struct code *next, **link;	/* of its process */
};

struct codes {
	struct looks *looks;
	int map;		/* python_codes, or -1 */
	struct shares *shares;	/* of the map, or NULL */
	struct code *by_number, *by_address;
	struct code_name *names;
	struct quota memory;	/* bytes */
};

/* The number of the code object is removed from the map where it is no more of use, so that the kernel
 * can number others. */
void codes_init(struct codes *cs, struct looks *looks, int map, struct shares *shares);
void codes_free(struct codes *cs);

/* Takes a record of a process into its list.  A code object that was at the same address is gone. */
void codes_add(struct codes *cs, struct code **list, unsigned user, const struct python_code_record *r,
	       size_t size);

/* Drops those of a list. */
void codes_drop(struct codes *cs, struct code **list);

/* Returns the code object of a frame of a process; NULL if it is unknown. */
const struct code *codes_find(const struct codes *cs, int pid, unsigned long long frame);

#endif
