/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* gpu [PART...]: runs the parts, all of them by default, and prints "PART: N of N right"; status 1 if any is not.
 * gpu fault KIND: runs a kernel with that fault, and prints the errors of the calls after it.
 */
#include <cstring>

#include "gpu.h"

static const struct part {
	const char *name;
	void (*run)(struct results *r);
} parts[] = {
#define GPU_ROW(name) { #name, gpu_##name },
	GPU_PARTS(GPU_ROW)
};

static bool wanted(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (!strcmp(argv[i], name))
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	bool wrong = false;
	int run = 0;

	if (argc == 3 && !strcmp(argv[1], "fault")) {
		gpu_fault(argv[2]);
		return 0;
	}
	for (const part &p : parts) {
		struct results r = { 0, 0 };

		if (!wanted(p.name, argc, argv))
			continue;
		p.run(&r);
		printf("%s: %lu of %lu right\n", p.name, r.right, r.all);
		wrong |= r.right != r.all || !r.all;
		run++;
	}
	if (!run)
		fprintf(stderr, "gpu: no such part\n");
	return wrong || !run;
}
