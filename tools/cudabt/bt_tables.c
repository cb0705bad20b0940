/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "cudabt/bt_tables.h"
#include "base/die.h"

void bt_tables_enum(struct bt_tables *t, FILE *out, const struct cuda_enum *e, const char *key)
{
	int i = 0;

	while (i < t->nenums && t->enums[i] != e)
		i++;
	if (i == t->nenums) {
		t->enums = xrealloc(t->enums, i + 1, sizeof(*t->enums));
		t->enums[t->nenums++] = e;
	}
	fprintf(out, "@cudabt_%s[%s]", e->type, key);
}

void bt_tables_function(struct bt_tables *t, FILE *out, int id)
{
	if (!t->functions)
		t->functions = xcalloc(cuda_protos_n, sizeof(*t->functions));
	t->functions[id] = true;
	fprintf(out, "@cudabt_func[%d]", id);
}

static void write_enum(const struct cuda_enum *e, FILE *fill, FILE *clear)
{
	for (int i = 0; i < e->n; i++)
		if (cuda_enum_name(e, e->enumerators[i].value) == e->enumerators[i].name)
			fprintf(fill, "\t@cudabt_%s[%lld] = \"%s\";\n", e->type, e->enumerators[i].value,
				e->enumerators[i].name);
	fprintf(clear, "\tclear(@cudabt_%s);\n", e->type);
}

/* bpftrace makes a map's strings as long as the longest that it is given, and warns of a program that
 * compares them with a longer one: of a function that the program names but no file has. */
static int longest(const bool *wanted)
{
	size_t len = 0;
	int found = -1;

	for (int id = 0; id < cuda_protos_n; id++)
		if (wanted[id] && strlen(cuda_protos[id].name) > len) {
			len = strlen(cuda_protos[id].name);
			found = id;
		}
	return found;
}

void bt_tables_write(const struct bt_tables *t, const bool *wanted, FILE *fill, FILE *clear)
{
	int most;

	for (int i = 0; i < t->nenums; i++)
		write_enum(t->enums[i], fill, clear);
	if (!t->functions)
		return;
	most = longest(wanted);
	for (int id = 0; id < cuda_protos_n; id++)
		if (t->functions[id] || id == most)
			fprintf(fill, "\t@cudabt_func[%d] = \"%s\";\n", id, cuda_protos[id].name);
	fputs("\tclear(@cudabt_func);\n", clear);
}

void bt_tables_free(struct bt_tables *t)
{
	free(t->enums);
	free(t->functions);
}
