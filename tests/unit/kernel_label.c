/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* kernel-label [RE=NAME...]: writes what each kernel of the input, a symbol a line, is called by cudaexporter's
 * --kernels with each --kernel-map RE=NAME. */
#include <stdio.h>
#include <string.h>
#include "cudaexporter/kernel_counts.h"
#include "kernels/kernel_name.h"

int main(int argc, char **argv)
{
	struct kernel_names *names = kernel_names_new();
	char line[8192], label[KERNEL_LABEL_SIZE];
	struct label_map map = { 0 };

	for (int i = 1; i < argc; i++)
		label_map_add(&map, argv[i]);
	while (fgets(line, sizeof(line), stdin)) {
		const struct kernel *k;

		line[strcspn(line, "\n")] = 0;
		k = kernel_named(names, 0, 0, line);
		kernel_label(label, k, -1);
		puts(label_map_find(&map, k->full) ?: label);
	}
	label_map_free(&map);
	kernel_names_free(names);
	return 0;
}
