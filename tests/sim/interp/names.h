/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The names of a module while it is loaded, in scopes: the innermost is found first. */
#ifndef TESTS_SIM_INTERP_NAMES_H
#define TESTS_SIM_INTERP_NAMES_H
#include "ptx/ptx.h"
#include <stdbool.h>
#include <stdint.h>

enum name_kind {
	NAME_REG,		/* count 0: one register, value its slot; else %r<count>, value where its numbers begin */
	NAME_VARIABLE,		/* value: address */
	NAME_SHARED,		/* value: offset */
	NAME_DYNAMIC,
	NAME_LOCAL,
	NAME_PARAM,		/* of a function or a call; in the frame */
	NAME_ENTRY_PARAM,
	NAME_FUNCTION,		/* value: index */
	NAME_LABEL,		/* value: instruction */
	NAME_TABLE,
};

struct name {
	struct ptx_str text;
	enum name_kind kind;
	unsigned bits;		/* of a register */
	unsigned count;
	bool module;		/* a shared variable of the module */
	uint64_t value, size;
	unsigned next;		/* in its bucket, plus 1 */
};

struct names {
	struct name *all;
	unsigned num, max;
	unsigned *buckets, num_buckets;
};

bool names_init(struct names *names);
void names_free(struct names *names);
/* Adds a name, which the caller fills (text is set); NULL without memory.  Valid until the next is added. */
struct name *names_add(struct names *names, struct ptx_str text, enum name_kind kind);
struct name *names_find(const struct names *names, struct ptx_str text);
/* Forgets all but the first `num`. */
void names_cut(struct names *names, unsigned num);

#endif
