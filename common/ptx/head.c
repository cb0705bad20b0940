// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
#include "ptx/head.h"
#include <string.h>
#include "ptx/lex.h"

/* At an opening parenthesis: sets what is between, and returns the position behind the closing one. */
static const char *parentheses(const char *p, const char *end, struct ptx_str *between)
{
	size_t depth = 0;

	between->s = p + 1;
	while (p < end) {
		const char *blank = lex_blank(p, end);

		if (blank != p) {
			p = blank;
			continue;
		}
		if (*p == '(')
			depth++;
		else if (*p == ')' && !--depth) {
			between->n = (size_t)(p - between->s);
			return p + 1;
		}
		p++;
	}
	between->n = (size_t)(end - between->s);
	return end;
}

bool ptx_head_parse(struct ptx_str body, struct ptx_head *head)
{
	const char *p = body.s, *end = body.s + body.n;

	memset(head, 0, sizeof(*head));
	head->result.s = head->params.s = body.s;
	for (;; p++) {
		const char *blank = lex_blank(p, end);

		if (blank == end)
			return false;
		p = *blank == '"' ? lex_string(blank, end) - 1 : blank;
		if (lex_starts(p, end, ".entry")) {
			head->entry = true;
			p += strlen(".entry");
			break;
		}
		if (lex_starts(p, end, ".func")) {
			p += strlen(".func");
			break;
		}
	}
	p = lex_blank(p, end);
	/* .func .attribute(…) (result) name */
	if (lex_starts(p, end, ".attribute")) {
		struct ptx_str attribute;

		p = lex_blank(p + strlen(".attribute"), end);
		if (p < end && *p == '(')
			p = lex_blank(parentheses(p, end, &attribute), end);
	}
	if (p < end && *p == '(')
		p = lex_blank(parentheses(p, end, &head->result), end);
	head->name.s = p;
	p = lex_word(p, end);
	head->name.n = (size_t)(p - head->name.s);
	p = lex_blank(p, end);
	if (p < end && *p == '(')
		p = parentheses(p, end, &head->params);
	if (end > p && (end[-1] == '{' || end[-1] == ';'))
		end--;
	head->rest = (struct ptx_str){ p, (size_t)(end - p) };
	return head->name.n > 0;
}
