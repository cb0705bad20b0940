/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* drvkern FOLDER [PART...]: kernels by the driver alone, from PTX files of FOLDER and text of its own; runs the
 * parts, all by default, each in a context of its own, and prints "PART: N of N right".  Status 1 if any is not.
 */
#include "drvkern.h"

static const struct {
	const char *name;
	void (*run)(struct results *r);
} parts[] = {
	{ "launch", part_launch }, { "modules", part_modules }, { "images", part_images }, { "info", part_info },
	{ "memory", part_memory }, { "faults", part_faults }, { "graph", part_graph }, { "time", part_time },
	{ "concurrent", part_concurrent },
};

static bool wanted(const char *name, int argc, char **argv)
{
	int i;

	for (i = 2; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc <= 2;
}

int main(int argc, char **argv)
{
	bool wrong = false;
	size_t i;

	if (argc < 2)
		return 2;
	TRY(cuInit(0));
	for (i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		struct results r = { .ptx = argv[1] };

		if (!wanted(parts[i].name, argc, argv))
			continue;
		TRY(cuCtxCreate_v4(&r.ctx, NULL, 0, 0));
		parts[i].run(&r);
		TRY(cuCtxDestroy_v2(r.ctx));
		printf("%s: %lu of %lu right\n", parts[i].name, r.right, r.all);
		wrong |= r.right != r.all || !r.all;
	}
	return wrong;
}
