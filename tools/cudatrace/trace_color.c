/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "cli/out.h"
#include "cudatrace/trace_color.h"

static bool has_colors(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return out_is_terminal() && !(no && *no) && term && strcmp(term, "dumb");
}

bool color_wanted(enum color_when when)
{
	return !out_is_json() && when != COLOR_NEVER && (when == COLOR_ALWAYS || has_colors());
}

/* ECMA-48, SGR: every terminal with colors has these. */
void color_begin(FILE *f, bool wanted, enum color color)
{
	static const char *const begin[] = { [COLOR_NAME] = "\33[1m", [COLOR_ERROR] = "\33[31m" };

	if (wanted)
		fputs(begin[color], f);
}

void color_end(FILE *f, bool wanted)
{
	if (wanted)
		fputs("\33[m", f);
}
