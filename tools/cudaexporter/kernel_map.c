/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "base/die.h"
#include "cli/opt.h"
#include "cudaexporter/kernel_label.h"
#include "cudaexporter/kernel_map.h"

/* Programs choose the names: matching "\1" in one can take for ever, anything else takes a time that grows
 * with the name's length. */
static void refuse_references(const char *expression, const char *text)
{
	for (const char *at = expression; (at = strchr(at, '\\')) && at[1]; at += 2)
		if (at[1] >= '1' && at[1] <= '9')
			usage_error("--kernel-map %s: \\%c is not supported: it could take for ever", text, at[1]);
}

void kernel_map_add(struct kernel_map *map, const char *text)
{
	const char *equal = strrchr(text, '=');
	struct kernel_rule rule;
	char *expression, why[128];
	int err;

	if (!equal || equal == text || !equal[1])
		usage_error("--kernel-map %s: expected RE=NAME", text);
	if (strlen(equal + 1) > KERNEL_LABEL_TEXT)
		usage_error("--kernel-map %s: the name has more than %d bytes", text, KERNEL_LABEL_TEXT);
	expression = xstrdup(text);
	expression[equal - text] = 0;
	refuse_references(expression, text);
	err = regcomp(&rule.expression, expression, REG_EXTENDED | REG_NOSUB);
	free(expression);
	if (err) {
		regerror(err, &rule.expression, why, sizeof(why));
		usage_error("--kernel-map %s: %s", text, why);
	}
	rule.name = equal + 1;
	map->rules = xrealloc(map->rules, map->n + 1, sizeof(*map->rules));
	map->rules[map->n++] = rule;
}

void kernel_map_free(struct kernel_map *map)
{
	for (size_t i = 0; i < map->n; i++)
		regfree(&map->rules[i].expression);
	free(map->rules);
	*map = (struct kernel_map){ 0 };
}

const char *kernel_map_find(const struct kernel_map *map, const char *full)
{
	for (size_t i = 0; i < map->n; i++)
		if (!regexec(&map->rules[i].expression, full, 0, NULL, 0))
			return map->rules[i].name;
	return NULL;
}
