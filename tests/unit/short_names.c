/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* short-names: writes the short name of each kernel of the input, a symbol or a name a line, from its name with
 * parameters and without, which are to be the same: tab-separated. */
#include <stdio.h>
#include <string.h>
#include "kernels/kernel_name.h"
#include "kernels/short_name.h"

int main(void)
{
	struct kernel_names *names = kernel_names_new();
	static char line[1 << 16];

	while (fgets(line, sizeof(line), stdin)) {
		char full[SHORT_NAME_SIZE], brief[SHORT_NAME_SIZE];
		const struct kernel *k;

		line[strcspn(line, "\n")] = 0;
		k = kernel_named(names, 0, 0, line);
		short_name(full, k->full);
		short_name(brief, k->brief);
		printf("%s\t%s\t%s\n", k->short_name, brief, full);
	}
	kernel_names_free(names);
	return 0;
}
