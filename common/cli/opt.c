/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include "base/die.h"
#include "cli/opt.h"
#include "base/version.h"

enum { MAX_OPTS = 48, LONG_ONLY = 256, OPT_COMPLETION = LONG_ONLY + MAX_OPTS };

static _Noreturn void printed(void)
{
	if (fflush(stdout) || ferror(stdout))
		die(errno, "cannot write to standard output");
	exit(EXIT_SUCCESS);
}

static void help(const struct opt *o, const struct usage *u)
{
	char left[80];

	printf("Usage: %s [OPTIONS]%s%s [-- CMD [ARG...]]\n\n%s\n\nOptions:\n", program_invocation_short_name,
	       *u->args ? " " : "", u->args, u->what);
	for (; o->type; o++) {
		snprintf(left, sizeof(left), "%c%c%c --%s%s%s", o->key ? '-' : ' ',
			 o->key ? o->key : ' ', o->key ? ',' : ' ', o->name,
			 o->arg ? " " : "", o->arg ? o->arg : "");
		if (strlen(left) > 26)
			printf("  %s\n%29s%s\n", left, "", o->help);
		else
			printf("  %-26s %s\n", left, o->help);
	}
	printf("  %-26s %s\n  %-26s %s\n\nExamples:\n%s", "-h, --help", "print this help and exit",
	       "-V, --version", "print the version and exit", u->examples);
	printed();
}

/* For `make install`: prints the tool's bash completion. */
static void completion(const struct opt *opts)
{
	const char *tool = program_invocation_short_name;
	const struct opt *o;

	printf("# bash completion of %s, made from its option table\n_%s()\n{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	       "\tCOMPREPLY=()\n\tcase $prev in\n", tool, tool);
	for (o = opts; o->type; o++) {
		if (!o->arg)
			continue;
		printf("\t--%s", o->name);
		if (o->key)
			printf("|-%c", o->key);
		if (o->type == OPT_TYPE_CHOICE) {
			printf(") mapfile -t COMPREPLY < <(compgen -W '");
			for (const char *s = o->arg; *s; s++)
				putchar(*s == '|' ? ' ' : *s);
			printf("' -- \"$cur\"); return ;;\n");
		} else if (!strcmp(o->arg, "FILE")) {
			printf(") mapfile -t COMPREPLY < <(compgen -f -- \"$cur\"); return ;;\n");
		} else if (!strncmp(o->arg, "PID", 3)) {
			printf(") mapfile -t COMPREPLY < <(compgen -W '\n\t\t"
			       "'\"$(cd /proc && echo [0-9]*)\" -- \"$cur\"); return ;;\n");
		} else if (!strncmp(o->arg, "'CMD", 4)) {
			printf(") mapfile -t COMPREPLY < <(compgen -c -- \"$cur\"); return ;;\n");
		} else if (!strcmp(o->arg, "USER")) {
			printf(") mapfile -t COMPREPLY < <(compgen -u -- \"$cur\"); return ;;\n");
		} else {
			printf(") return ;;\n");
		}
	}
	printf("\tesac\n\tmapfile -t COMPREPLY < <(compgen -W '");
	for (o = opts; o->type; o++)
		printf("--%s ", o->name);
	printf("--help --version' -- \"$cur\")\n}\ncomplete -F _%s %s\n", tool, tool);
	printed();
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

/* Parses "4096", with units also "64k", "2m", "1g", "1t"; -1 if s is anything else. */
static long number(const char *s, bool units)
{
	static const char letters[] = "kmgt";
	const char *unit;
	char *end;
	long n;

	if (!isdigit((unsigned char)*s))
		return -1;
	errno = 0;
	n = strtol(s, &end, 10);
	if (units && *end && !end[1] && (unit = strchr(letters, tolower((unsigned char)*end)))) {
		if (__builtin_mul_overflow(n, 1L << 10 * (unit - letters + 1), &n))
			errno = ERANGE;
		end++;
	}
	return errno || *end ? -1 : n;
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

static void set(const struct opt *o, const char *s)
{
	long n;

	switch (o->type) {
	case OPT_TYPE_FLAG:
		*(bool *)o->value = true;
		return;
	case OPT_TYPE_NUM:
		n = number(s, false);
		if (n < o->min)
			usage_error("--%s: '%s' is not an integer >= %ld", o->name, s, o->min);
		*(long *)o->value = n;
		return;
	case OPT_TYPE_SIZE:
		n = number(s, true);
		if (n < 0)
			usage_error("--%s: '%s' is not a size such as 4096, 64k, 2m or 1g", o->name, s);
		*(long *)o->value = n;
		return;
	case OPT_TYPE_STR:
	case OPT_TYPE_COMMAND:
		if (!*s)
			usage_error("--%s: %s must not be empty", o->name, o->arg);
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
	struct option longs[MAX_OPTS + 4] = {};
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
	longs[n + 2] = (struct option){ "bash-completion", 0, NULL, OPT_COMPLETION };

	opterr = 0;
	while ((c = getopt_long(*argc, argv, shorts, longs, NULL)) != -1) {
		const struct opt *o = opts;

		if (c == 1) {
			check_operand(last, u, optarg);
			argv[end++] = optarg;
			last = NULL;
			continue;
		}
		if (c == 'h')
			help(opts, u);
		if (c == OPT_COMPLETION)
			completion(opts);
		if (c == 'V') {
			printf("%s (cuda-bpf-tools) %s\n", program_invocation_short_name, VERSION);
			printed();
		}
		if (c == ':')
			usage_error("option '%s' requires an argument", argv[optind - 1]);
		if (c == '?' && optopt && optopt < LONG_ONLY)
			usage_error("unknown option '-%c'", optopt);
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

void opt_no_operands(int argc, char **argv, int first)
{
	if (first < argc)
		usage_error("unexpected argument '%s'", argv[first]);
}

void opt_interval(int argc, char **argv, int first, long *interval, long *count)
{
	if (first < argc) {
		*interval = number(argv[first], false);
		if (*interval < 1)
			usage_error("interval: '%s' is not a whole number of seconds >= 1",
				    argv[first]);
	}
	if (first + 1 < argc) {
		*count = number(argv[first + 1], false);
		if (*count < 1)
			usage_error("count: '%s' is not an integer >= 1", argv[first + 1]);
	}
	opt_no_operands(argc, argv, first + 2);
}

int *parse_pids(const char *text)
{
	int *pids = xcalloc(strlen(text) / 2 + 2, sizeof(*pids)), n = 0;
	char *list = xstrdup(text), *rest = list, *word;

	while ((word = strsep(&rest, ","))) {
		long pid = number(word, false);

		if (pid < 1 || pid > INT_MAX)
			usage_error("--pid: '%s' is not a process id", word);
		pids[n++] = pid;
	}
	free(list);
	return pids;
}
