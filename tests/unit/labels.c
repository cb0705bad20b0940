/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* labels LIST BY PID: prints the labels of a process by --labels and --by ("-": not given), and those of the others.
 * labels = LIST BY COMM EXE CONTAINER: of process 7 and user 5, with these.  labels value: standard input as a
 * label's value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cudaexporter/label_sets.h"

static int print_value(void)
{
	static char text[1 << 16];

	text[fread(text, 1, sizeof(text) - 1, stdin)] = '\0';
	label_value(stdout, text);
	return 0;
}

static const char *given(const char *arg)
{
	return strcmp(arg, "-") ? arg : NULL;
}

int main(int argc, char **argv)
{
	struct identity id = { .uid = 5 };
	struct labels l;
	char *text;
	int pid = 7;

	if (argc == 2 && !strcmp(argv[1], "value"))
		return print_value();
	if (argc == 7) {
		argv++;
		snprintf(id.comm, sizeof(id.comm), "%s", argv[3]);
		snprintf(id.exe, sizeof(id.exe), "%s", argv[4]);
		snprintf(id.in.container, sizeof(id.in.container), "%s", argv[5]);
	} else if (argc == 4) {
		pid = atoi(argv[3]);
		identity_read(pid, &id);
	} else {
		return 2;
	}
	labels_parse(&l, given(argv[1]), given(argv[2]));
	text = labels_text(&l, pid, &id);
	printf("%d {%s}", l.sums, text);
	free(text);
	text = labels_text(&l, 0, NULL);
	printf(" {%s}\n", text);
	free(text);
	return 0;
}
