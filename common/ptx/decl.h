/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The registers that are declared where the reader is: names in scopes. */
#ifndef DECL_H
#define DECL_H
#include <stdint.h>
#include "ptx/ptx.h"

struct ptx_decl {
	struct ptx_str name;	/* of a range, such as %r<10>: without the number */
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

/* Takes the body of a PTX_REG in. */
void ptx_declare(struct ptx_decls *decls, struct ptx_str body, int depth);
/* Forgets what was declared inside more than depth braces. */
void ptx_undeclare(struct ptx_decls *decls, int depth);
void ptx_decls_free(struct ptx_decls *decls);

/* Returns the bits of a register, 1 for a predicate; 0 if it is none, or of a type that is not known. */
int ptx_register_bits(const struct ptx_decls *decls, struct ptx_str name);

/* Returns the bits of a type without its dot: 32 of "f32", "b32", "f16x2"; 0 if it is none. */
int ptx_type_bits(struct ptx_str type);

/* A seed for hashes, which a file's author cannot know. */
uint32_t ptx_seed(void);
uint32_t ptx_hash(uint32_t seed, struct ptx_str str);

#endif
