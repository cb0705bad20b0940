/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include "cudabt/bt_script.h"

void bt_print_if(FILE *f, const char *condition, const char *statements)
{
	if (condition)
		fprintf(f, " if (%s) {%s}", condition, statements);
	else
		fputs(statements, f);
}

void bt_script_free(struct bt_script *s)
{
	free(s->wanted);
	free(s->blocks);
	free(s->out);
	free(s->notes);
}
