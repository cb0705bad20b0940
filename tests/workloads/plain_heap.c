/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* For sanitizers: uses the heap, looks a function up, and exits 3. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

int main(void)
{
	char *p = malloc(3);

	if (!p)
		return 1;
	p[0] = 'x';
	printf("%c %d\n", p[0], dlsym(RTLD_DEFAULT, "main") != NULL || !dlsym(RTLD_DEFAULT, "cuInit"));
	free(p);
	return 3;
}
