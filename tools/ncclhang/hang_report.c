/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <jansson.h>
#include <stdio.h>
#include "base/escape.h"
#include "ncclhang/hang_report.h"

void hang_report_stack(FILE *f, const struct hang_report *r)
{
	const json_t *frame;
	size_t i;

	json_array_foreach((json_t *)r->frames, i, frame) {
		const char *sym = json_string_value(json_object_get(frame, "sym"));
		const char *file = json_string_value(json_object_get(frame, "file"));
		json_int_t line = json_integer_value(json_object_get(frame, "line"));

		fputs("        ", f);
		escape_text(f, sym ?: "[unknown]");
		if (file) {
			fputs(" (", f);
			escape_text(f, file);
			if (line)
				fprintf(f, ":%" JSON_INTEGER_FORMAT, line);
			fputc(')', f);
		}
		fputc('\n', f);
	}
}
