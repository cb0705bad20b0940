/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* State of the rewriter in a function: declared registers, the uses of names, and source locations. */
#ifndef PTX_SCOPE_H
#define PTX_SCOPE_H
#include <stdint.h>
#include "ptx/ptx.h"

/* A register, or a range of them. */
struct ptx_decl {
	struct ptx_str name;	/* of a range such as %r<10>: without the number */
	uint32_t hidden;	/* the declaration before it in its bucket, + 1 */
	int bits, depth;
	bool range;
};

struct ptx_decls {
	struct ptx_decl *decl;
	uint32_t n, max;
	uint32_t *bucket;	/* [2^bits]: the latest declaration, + 1 */
	unsigned bits;
	uint32_t seed;
	bool failed;		/* out of memory: some are missing */
};

/* How often a function has a name: a result that nothing else names need not be waited for. */
struct ptx_uses {
	unsigned char *count;	/* [2][2^bits] by two hashes, up to 2 */
	unsigned bits, max_bits;
};

/* From a .loc. */
struct ptx_source {
	unsigned file, line, column;
};

struct ptx_loc {
	struct ptx_source at, by;	/* by: where it was inlined; line 0: nowhere */
	uint32_t next;			/* in its bucket, + 1 */
};

struct ptx_locs {
	struct ptx_loc *loc;	/* by location */
	uint32_t n, max, *bucket;
	uint32_t current;	/* the latest .loc of this function, + 1 */
	uint32_t seed;
	bool failed;		/* out of memory: some are missing */
};

/* Adds the registers of a PTX_REG. */
void ptx_declare(struct ptx_decls *decls, struct ptx_str body, int depth);
/* Removes registers declared inside more than depth braces. */
void ptx_undeclare(struct ptx_decls *decls, int depth);
void ptx_decls_free(struct ptx_decls *decls);

/* Returns the bits of a register, 1 for a predicate; 0: not a register, or of an unknown type. */
int ptx_register_bits(const struct ptx_decls *decls, struct ptx_str name);

/* Returns the bits of a type without its dot: 32 of "f32", "b32", "f16x2"; 0: not a type. */
int ptx_type_bits(struct ptx_str type);

/* Begins a function of so many bytes; false if out of memory. */
bool ptx_uses_begin(struct ptx_uses *uses, size_t bytes);
/* Counts the names of an instruction. */
void ptx_uses_count(struct ptx_uses *uses, struct ptx_str body);
/* Returns true if the name occurs twice or more; rarely also because of other names' hashes, which makes the program wait
 * for an unused result. */
bool ptx_used(const struct ptx_uses *uses, struct ptx_str name);
void ptx_uses_free(struct ptx_uses *uses);

/* Begins a function: drops all locations. */
void ptx_locs_begin(struct ptx_locs *locs);
/* Adds a .loc's location and makes it current; false if the statement is not a .loc. */
bool ptx_locs_add(struct ptx_locs *locs, struct ptx_str body);
/* Stores the current location and those it was inlined at, innermost first; returns their number. */
unsigned ptx_locs_chain(const struct ptx_locs *locs, struct ptx_source *source, unsigned max);
void ptx_locs_free(struct ptx_locs *locs);

#endif
