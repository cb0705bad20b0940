/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <jansson.h>
#include <stdio.h>
#include "base/escape.h"
#include "ncclhang/hang_report.h"

void hang_report_stack(const struct hang_report *r)
{
	const json_t *frame;
	size_t i;

	json_array_foreach((json_t *)r->frames, i, frame) {
		const char *sym = json_string_value(json_object_get(frame, "sym"));
		const char *file = json_string_value(json_object_get(frame, "file"));
		json_int_t line = json_integer_value(json_object_get(frame, "line"));

		fputs("        ", stdout);
		escape_text(stdout, sym ?: "[unknown]");
		if (file) {
			fputs(" (", stdout);
			escape_text(stdout, file);
			if (line)
				printf(":%" JSON_INTEGER_FORMAT, line);
			putchar(')');
		}
		putchar('\n');
	}
}
