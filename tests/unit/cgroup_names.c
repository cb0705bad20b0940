/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cgroup-names PID, or cgroup-names - for what /proc/PID/cgroup has, on standard input: prints the container,
 * pod and job, "-" for what there is none of. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "proc/cgroup.h"

static const char *or_none(const char *text)
{
	return *text ? text : "-";
}

int main(int argc, char **argv)
{
	static char text[1 << 20];
	struct cgroup_names in;

	if (argc != 2)
		return 2;
	if (!strcmp(argv[1], "-")) {
		text[fread(text, 1, sizeof(text) - 1, stdin)] = '\0';
		cgroup_names_parse(text, &in);
	} else if (!cgroup_names(atoi(argv[1]), &in)) {
		return 1;
	}
	printf("%s %s %s\n", or_none(in.container), or_none(in.pod), or_none(in.job));
	return 0;
}
