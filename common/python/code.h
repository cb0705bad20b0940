/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Names of the code objects that bpf/lib/python.bpf.h numbered. */
#ifndef PYTHON_CODE_H
#define PYTHON_CODE_H
#include <stdbool.h>
#include <stddef.h>
#include "abi/python_frames.h"
#include "base/hash.h"
#include "base/quota.h"

struct bpf_map;
struct helper_pool;

/* One code object: a function, class body, comprehension or module. */
struct python_code {
	const char *name;	/* qualified if known (Python 3.11 and newer) */
	const char *file;
	int first_line;
};

/* From this code unit on. */
struct line_range {
	unsigned unit, line;	/* line 0: none */
};

/* Code that looks the same, in any process. */
struct code_name {
	UT_hash_handle hh;
	struct python_code code;
	unsigned size;		/* of key, in bytes */
	char key[];		/* first line, name and file */
};

struct code {
	UT_hash_handle hh;	/* by number */
	struct python_code_key key;
	struct python_code_value value;
	const struct code_name *name;	/* NULL: no memory */
	unsigned user;		/* whose quota it takes from */
	size_t nlines;
	struct line_range *lines;
	struct code *newer;	/* of its process */
};

/* The code of a process, in the order of its records.  Programs that make code as they run make more and
 * more: what came long ago is removed from the kernel's map, which sends it again if it still runs, and
 * forgotten a while later, when no stack can have it. */
struct code_list {		/* starts zeroed */
	struct code *oldest, *newest;
	struct code *mapped;	/* the oldest one in the map */
	unsigned n, nmapped;
};

struct codes {
	struct helper_pool *helpers;
	const struct bpf_map *map;	/* python_codes, or NULL */
	struct shares *shares;	/* of the map, or NULL */
	struct code *by_number;
	struct code_name *names;
	struct quota memory;	/* bytes */
};

void codes_init(struct codes *cs, struct helper_pool *helpers, const struct bpf_map *map, struct shares *shares);
void codes_free(struct codes *cs);

/* Takes a record of a process into its list. */
void codes_add(struct codes *cs, struct code_list *list, unsigned user, const struct python_code_record *r,
	       size_t size);

/* Drops those of a list, and makes the kernel forget them. */
void codes_drop(struct codes *cs, struct code_list *list);

/* Returns the code object of a frame of a process; NULL if it is unknown. */
const struct code *codes_find(const struct codes *cs, int pid, unsigned long long frame);

/* Reads a table of size bytes of untrusted data into size + 2 ranges, in order of units; returns how many
 * there are.  version: PY_VERSION_HEX >> 16. */
size_t line_table_read(unsigned version, unsigned first_line, const unsigned char *table, size_t size,
		       struct line_range *ranges);

/* Returns the line of a unit; 0 if there is none. */
unsigned line_table_find(const struct line_range *ranges, size_t n, unsigned unit);

#endif
