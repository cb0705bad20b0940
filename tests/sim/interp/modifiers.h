/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The parts of an instruction's name: ld . global . nc . v4 . f32. */
#ifndef TESTS_SIM_INTERP_MODIFIERS_H
#define TESTS_SIM_INTERP_MODIFIERS_H
#include "ptx/ptx.h"

struct modifiers {
	const char *p, *end;
};

static inline struct modifiers modifiers_of(struct ptx_str op)
{
	return (struct modifiers){ op.s, op.s + op.n };
}

/* Takes the next one, without its dot; false at the end. */
static inline bool modifiers_next(struct modifiers *m, struct ptx_str *word)
{
	if (m->p >= m->end)
		return false;
	word->s = m->p;
	while (m->p < m->end && *m->p != '.')
		m->p++;
	word->n = (size_t)(m->p - word->s);
	m->p++;
	return true;
}

/* Return the place of a word in a list that ends with NULL, or -1. */
static inline int modifiers_find(struct ptx_str word, const char *const *list)
{
	for (int i = 0; list[i]; i++)
		if (ptx_str_is(word, list[i]))
			return i;
	return -1;
}

#endif
