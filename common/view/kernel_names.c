/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include "base/escape.h"
#include "kernels/short_name.h"
#include "view/kernel_names.h"

static void short_json(const void *at)
{
	const char *name = *(const char *const *)at;
	char text[SHORT_NAME_SIZE];

	if (name)
		short_name(text, name);
	if (name)
		escape_json(stdout, text);
	else
		fputs("null", stdout);
}

const struct field_type field_short = { NULL, NULL, short_json };
