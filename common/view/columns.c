/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "view/columns.h"

static void copy(struct field *to, const struct field *from)
{
	do
		*to++ = *from;
	while ((from++)->type);
}

static struct field *find(struct field *fields, const char *key)
{
	while (fields->type && (!fields->key || strcmp(fields->key, key)))
		fields++;
	return fields->type ? fields : NULL;
}

void columns_remove(struct field *fields, const char *key)
{
	struct field *f = find(fields, key);

	if (f)
		copy(f, f + 1);
}

bool columns_show(struct field *fields, const char *key, const char *head)
{
	struct field *f = find(fields, key);

	if (!f || f->head)
		return false;
	f->head = head;
	return true;
}

void columns_of_calls(struct field *to, const struct field *from, bool times, bool stacks)
{
	struct field *time;

	copy(to, from);
	time = find(to, "time");
	if (time && !times)
		time->head = NULL;
	if (!stacks)
		columns_remove(to, "stack");
}

void columns_of_groups(struct field *to, const struct field *from, bool pids, bool stacks)
{
	copy(to, from);
	if (!pids) {
		columns_remove(to, "pid");
		columns_remove(to, "comm");
		columns_remove(to, "container");
	}
	if (!stacks)
		columns_remove(to, "stack");
}
