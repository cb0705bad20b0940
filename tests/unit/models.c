/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* models KIND: runs the test of one kind of model. */
#include <stdio.h>
#include <string.h>
#include "models.h"

static const struct { const char *name; void (*run)(void); } models[] = {
	{ "calls", models_calls }, { "clocks", models_clocks }, { "estimates", models_estimates }, { "launches", models_launches }, { "memory", models_memory }, { "quota", models_quota },
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 2 && i < sizeof(models) / sizeof(*models); i++) {
		if (strcmp(argv[1], models[i].name))
			continue;
		models[i].run();
		return 0;
	}
	fputs("usage: models KIND\n", stderr);
	return 2;
}
