/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "base/die.h"
#include "base/version.h"
#include "cli/completion.h"
#include "cli/opt.h"
#include "cli/value.h"

/* Output of --help. */

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

/* Prints the options and the description, in lines of at most 80 columns, except the examples, which
 * stay as they are. */
static void help_print(const struct opt *o, const struct usage *u)
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

enum { MAX_OPTS = 64, LONG_ONLY = 256, OPT_COMPLETION = LONG_ONLY + MAX_OPTS };

enum { HINT = 256, SHELLS = 3 };

/* For `make install`; in the order of COMPLETION_SHELLS. */
static const char *const completions[SHELLS] = { "bash-completion", "zsh-completion", "fish-completion" };

static _Noreturn void printed(void)
{
	if (fflush(stdout) || ferror(stdout))
		die(errno, "cannot write to standard output");
	exit(EXIT_SUCCESS);
}

void usage_error(const char *fmt, ...)
{
	char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	va_end(ap);
	warning(0, "%s", text ? text : fmt);
	fprintf(stderr, "Try '%s --help'.\n", program_invocation_short_name);
	exit(EXIT_USAGE);
}

static int choice(const char *words, const char *s)
{
	size_t len = strlen(s);

	for (int i = 0; ; i++, words++) {
		size_t n = strcspn(words, "|");

		if (n == len && !strncmp(words, s, n))
			return i;
		words += n;
		if (!*words)
			return -1;
	}
}

static void add_to(struct opt_many *many, const char *s)
{
	many->list = xrealloc(many->list, many->n + 1, sizeof(*many->list));
	many->list[many->n++] = s;
}

static void set(const struct opt *o, const char *s)
{
	long n;

	switch (o->type) {
	case OPT_TYPE_FLAG:
		*(bool *)o->value = true;
		return;
	case OPT_TYPE_COUNT:
		++*(int *)o->value;
		return;
	case OPT_TYPE_NUM:
		if (!value_number(s, &n) || n < o->min)
			usage_error("--%s: '%s' is not an integer >= %ld", o->name, s, o->min);
		*(long *)o->value = n;
		return;
	case OPT_TYPE_SIZE:
		if (!value_size(s, &n))
			usage_error("--%s: '%s' is not a size such as 4096, 64k, 1.5g or 2MB", o->name, s);
		*(long *)o->value = n;
		return;
	case OPT_TYPE_TIME:
		if (!value_time(s, o->unit, &n) || (!n && o->min))
			usage_error("--%s: '%s' is not a duration%s such as 5, 0.5, 100ms or 2m", o->name, s,
				    o->min ? " > 0" : "");
		if (n < o->min)
			usage_error("--%s: '%s' is shorter than %ld ms", o->name, s, o->min / VALUE_MS);
		*(long *)o->value = n;
		return;
	case OPT_TYPE_MANY:
	case OPT_TYPE_STR:
	case OPT_TYPE_COMMAND:
		if (!*s)
			usage_error("--%s: %s must not be empty", o->name, o->arg);
		if (o->type == OPT_TYPE_MANY) {
			add_to(o->value, s);
			return;
		}
		*(const char **)o->value = s;
		return;
	case OPT_TYPE_CHOICE:
		*(int *)o->value = choice(o->arg, s);
		if (*(int *)o->value < 0)
			usage_error("--%s: '%s' is not one of %s", o->name, s, o->arg);
		return;
	case OPT_TYPE_END:
		return;
	}
}

/* The next file opened would get a standard descriptor that the caller closed, and messages would
 * go to that file: occupy the descriptor with one that cannot be used. */
static void hold_standard_files(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd ? O_RDONLY : O_WRONLY) != fd)
			exit(EXIT_FAILURE);
}

/* An operand that follows -c ./train is meant as its argument, and would be taken as an interval. */
static void check_operand(const struct opt *last, const struct usage *u, const char *operand)
{
	const char *command;

	if (!last || last->type != OPT_TYPE_COMMAND || strstr(u->args, "FILE"))
		return;
	command = *(const char **)last->value;
	if (strpbrk(command, " \t\n"))
		return;
	usage_error("'%s' is not passed to %s: quote the command, -c '%s %s', or write -- %s %s%s", operand,
		    command, command, operand, command, operand,
		    strstr(u->args, "interval") ? " (an interval stands before -c)" : "");
}

int opt_parse(int *argc, char **argv, const struct opt *opts, const struct usage *u, char ***command)
{
	const struct opt *last = NULL;
	const char *value = NULL;
	struct option longs[MAX_OPTS + SHELLS + 3] = {};
	/* each operand counts as an option 1: see getopt(3) */
	char shorts[2 * MAX_OPTS + 8] = "-:hV", *s = shorts + 4;
	int n = 0, end = 1, c;

	hold_standard_files();
	for (const struct opt *o = opts; o->type && n < MAX_OPTS; o++, n++) {
		longs[n] = (struct option){ o->name, !!o->arg, NULL, LONG_ONLY + n };
		if (!o->key)
			continue;
		*s++ = o->key;
		if (o->arg)
			*s++ = ':';
	}
	longs[n] = (struct option){ "help", 0, NULL, 'h' };
	longs[n + 1] = (struct option){ "version", 0, NULL, 'V' };
	for (int i = 0; i < SHELLS; i++)
		longs[n + 2 + i] = (struct option){ completions[i], 0, NULL, OPT_COMPLETION + i };

	opterr = 0;
	while ((c = getopt_long(*argc, argv, shorts, longs, NULL)) != -1) {
		const struct opt *o = opts;

		if (c == 1) {
			check_operand(last, u, optarg);
			argv[end++] = optarg;
			last = NULL;
			continue;
		}
		if (c == 'h') {
			help_print(opts, u);
			printed();
		}
		if (c >= OPT_COMPLETION) {
			completion_print(c - OPT_COMPLETION, opts);
			printed();
		}
		if (c == 'V') {
			version_print();
			printed();
		}
		if (c == ':')
			usage_error("option '%s' requires an argument", argv[optind - 1]);
		if (c == '?' && optopt && optopt < LONG_ONLY)
			usage_error("unknown option '-%c'%s", optopt, optopt == u->other ? u->hint : "");
		if (c == '?')
			usage_error(optopt ? "option '%s' doesn't allow an argument" :
					     "unknown option '%s'", argv[optind - 1]);
		if (c >= LONG_ONLY)
			o += c - LONG_ONLY;
		else
			while (o->type && o->key != c)
				o++;
		set(o, optarg);
		last = o;
		value = optarg;
	}
	/* what getopt() has read last, unless it is an option's argument */
	*command = argv[optind - 1] != value && !strcmp(argv[optind - 1], "--") ? argv + optind : NULL;
	if (*command && !**command)
		usage_error("missing command after --");
	*argc = end;
	return 1;
}

/* An operand without -c or -- is probably a command. */
static const char *command_hint(const char *operand, char *text, size_t size)
{
	snprintf(text, size, "; to trace a command, write -- %s", operand);
	return *operand && !strchr("0123456789", *operand) ? text : "";
}

void opt_no_operands(int argc, char **argv, int first)
{
	char hint[HINT];

	if (first < argc)
		usage_error("unexpected argument '%s'%s", argv[first], command_hint(argv[first], hint, sizeof(hint)));
}

void opt_interval(int argc, char **argv, int first, long *interval, long *count)
{
	char hint[HINT];

	if (first < argc && (!value_time(argv[first], VALUE_S, interval) || *interval < 10 * VALUE_MS))
		usage_error("interval: '%s' is not a duration >= 10ms such as 5, 0.5 or 2m%s", argv[first],
			    command_hint(argv[first], hint, sizeof(hint)));
	if (first + 1 < argc && (!value_number(argv[first + 1], count) || *count < 1))
		usage_error("count: '%s' is not an integer >= 1", argv[first + 1]);
	opt_no_operands(argc, argv, first + 2);
}
