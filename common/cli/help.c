/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "cli/help.h"

enum { COLUMNS = 80, HELP = 29 };	/* in all; where the text of an option begins */

/* Prints the words of a text, the first at this column, on lines that begin at indent. */
static void wrap(const char *text, int column, int indent)
{
	bool first = true;

	for (; *text; text += strspn(text, " \n")) {
		int n = strcspn(text, " \n");

		if (!first && column + 1 + n > COLUMNS) {
			printf("\n%*s", indent, "");
			column = indent;
		} else if (!first) {
			putchar(' ');
			column++;
		}
		printf("%.*s", n, text);
		column += n;
		text += n;
		first = false;
	}
	putchar('\n');
}

static void option(const char *left, const char *help)
{
	if (strlen(left) > HELP - 3)
		printf("  %s\n%*s", left, HELP, "");
	else
		printf("  %-*s ", HELP - 3, left);
	wrap(help, HELP, HELP);
}

void help_print(const struct opt *o, const struct usage *u)
{
	char left[80];

	printf("Usage: %s [OPTIONS]%s%s [-- CMD [ARG...]]\n\n", program_invocation_short_name,
	       *u->args ? " " : "", u->args);
	wrap(u->what, 0, 0);
	puts("\nOptions:");
	for (; o->type; o++) {
		snprintf(left, sizeof(left), "%c%c%c --%s%s%s", o->key ? '-' : ' ',
			 o->key ? o->key : ' ', o->key ? ',' : ' ', o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");
		option(left, o->help);
	}
	option("-h, --help", "print this help and exit");
	option("-V, --version", "print the version and exit");
	printf("\nExamples:\n%s", u->examples);
}
