/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <string.h>
#include "base/csv_text.h"
#include "base/die.h"
#include "base/escape.h"

void csv_text(FILE *f, const char *s)
{
	bool quoted = strpbrk(s, ",\"");
	const char *end;

	if (quoted)
		putc('"', f);
	for (; (end = strchr(s, '"')); s = end + 1) {
		char *part = strndup(s, end - s);

		if (!part)
			die(ENOMEM, "a name");
		escape_text(f, part);
		fputs("\"\"", f);
		free(part);
	}
	escape_text(f, s);
	if (quoted)
		putc('"', f);
}
