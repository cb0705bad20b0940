/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* each LIBRARY CALL...: has the helper of --attach inject make system calls, each beside one that is allowed, and prints
 * which of them return. */
#include <stdio.h>
#include <stdlib.h>
#include "base/die.h"
#include "inject/inject_each.h"
#include "shmmap/create.h"

static void try(struct inject_each *e, const char *call)
{
	size_t n;
	char *answer = inject_each_run(e, call, 0, 0, 8, &n);

	printf("%s: %.*s\n", call, answer ? (int)n : 9, answer ? answer : "no answer");
	free(answer);
}

int main(int argc, char **argv)
{
	struct inject_head head = { .threads_used = 1 };
	struct shmmap_memory memory = { .fd = -1, .fixed = -1, .shm.head = &head };
	struct inject_each e = { 0 };

	log_init(false, false);
	if (argc < 2)
		return EXIT_USAGE;
	inject_each_init(&e, argv[1], &memory);
	for (int i = 2; i < argc; i++) {
		try(&e, argv[i]);
		try(&e, "memory");
	}
	inject_each_free(&e);
	return 0;
}
