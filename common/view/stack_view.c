/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/escape.h"
#include "sym/stack.h"
#include "view/stack_view.h"

static const struct stack *stack_at(const void *at)
{
	return *(const struct stack *const *)at;
}

static void text_below(const void *at)
{
	stack_text(stack_at(at));
}

static void json(const void *at)
{
	if (stack_at(at))
		stack_json(stack_at(at));
	else			/* it was not taken */
		fputs("null", stdout);
}

const struct field_type field_stack = { NULL, text_below, json };

void stack_view_callers(FILE *file, const struct stack *stack)
{
	struct frame_view v;

	for (int i = 0; i < 8 && stack_view(stack, i, &v); i++) {
		fputs(v.kind == FRAME_KIND_NOTE ? " < [" : " < ", file);
		escape_text(file, v.name ? v.name : "?");
		if (v.kind == FRAME_KIND_NOTE)
			putc(']', file);
	}
}
