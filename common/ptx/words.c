// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "ptx/words.h"
#include "ptx/lex.h"

struct ptx_str lex_next_word(struct ptx_str *rest)
{
	const char *p = rest->s, *end = rest->s + rest->n;
	struct ptx_str word;

	while (p < end && !lex_is_word(*p)) {
		const char *start = p;

		p = *p == '"' ? lex_string(p, end) : lex_comment(p, end);
		p += p == start;
	}
	word.s = p;
	p = lex_word(p, end);
	word.n = (size_t)(p - word.s);
	rest->s = p;
	rest->n = (size_t)(end - p);
	return word;
}
