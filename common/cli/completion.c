/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "cli/completion.h"
#include "cli/opt_table.h"

/* Kinds of option values, and how a shell lists them. */
enum values { ANYTHING, WORDS, LIST, FILES, PIDS, COMMANDS, USERS };

static const char *const bash_lists[] = {
	[FILES] = "-f", [PIDS] = "-W \"$(cd /proc && echo [0-9]*)\"", [COMMANDS] = "-c", [USERS] = "-u",
};
static const char *const zsh_lists[] = {
	[ANYTHING] = " ", [FILES] = "_files", [PIDS] = "_sequence _pids", [COMMANDS] = "_command_names -e",
	[USERS] = "_users",
};
static const char *const fish_lists[] = {
	[PIDS] = "(__fish_complete_pids)", [COMMANDS] = "(__fish_complete_command)",
	[USERS] = "(__fish_complete_users)",
};

static const struct opt common[] = {
	{ .type = OPT_TYPE_FLAG, .key = 'h', .name = "help", .help = "print this help and exit" },
	{ .type = OPT_TYPE_FLAG, .key = 'V', .name = "version", .help = "print the version and exit" },
	{ .type = OPT_TYPE_END }
};

static enum values values_of(const struct opt *o)
{
	if (o->type == OPT_TYPE_CHOICE)
		return WORDS;
	if (o->words)
		return LIST;
	return !strcmp(o->arg, "FILE") ? FILES : !strncmp(o->arg, "PID", 3) ? PIDS :
	       o->type == OPT_TYPE_COMMAND ? COMMANDS : !strcmp(o->arg, "USER") ? USERS : ANYTHING;
}

/* Prints the words that the value can be. */
static void print_words(const struct opt *o)
{
	const char *word;

	if (o->type == OPT_TYPE_CHOICE)
		for (const char *s = o->arg; *s; s++)
			putchar(*s == '|' ? ' ' : *s);
	for (int i = 0; o->words && (word = o->words(i)); i++)
		printf("%s%s", i ? " " : "", word);
}

/* ---- bash */

/* In a list, the word after the last comma or ! is completed. */
static void bash_list(const struct opt *o)
{
	printf(") local last=${cur##*[,!]}\n\t\tmapfile -t COMPREPLY < <(compgen -P \"${cur%%\"$last\"}\" -W '");
	print_words(o);
	printf("' -- \"$last\"); return ;;\n");
}

static void bash_value(const struct opt *o)
{
	enum values v = values_of(o);

	printf("\t--%s", o->name);
	if (o->key)
		printf("|-%c", o->key);
	if (v == LIST) {
		bash_list(o);
	} else if (v == WORDS) {
		printf(") mapfile -t COMPREPLY < <(compgen -W '");
		print_words(o);
		printf("' -- \"$cur\"); return ;;\n");
	} else if (v == ANYTHING) {
		printf(") return ;;\n");
	} else {
		printf(") mapfile -t COMPREPLY < <(compgen %s -- \"$cur\"); return ;;\n", bash_lists[v]);
	}
}

static void bash(const char *tool, const struct opt *opts)
{
	printf("# bash completion of %s, made from its option table\n_%s()\n{\n"
	       "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
	       "\tCOMPREPLY=()\n\tcase $prev in\n", tool, tool);
	for (const struct opt *o = opts; o->type; o++)
		if (o->arg)
			bash_value(o);
	printf("\tesac\n\tmapfile -t COMPREPLY < <(compgen -W '");
	for (const struct opt *o = opts; o->type; o++)
		printf("--%s ", o->name);
	printf("--help --version' -- \"$cur\")\n}\ncomplete -F _%s %s\n", tool, tool);
}

/* ---- zsh */

/* Prints text in single quotes, each of these characters after a backslash. */
static void quoted(const char *s, const char *special)
{
	for (; *s; s++)
		if (*s == '\'')
			fputs("'\\''", stdout);
		else
			printf("%s%c", strchr(special, *s) ? "\\" : "", *s);
}

static void zsh_option(const struct opt *o)
{
	enum values v = o->arg ? values_of(o) : ANYTHING;

	if (o->key)
		printf("\t'(-%c --%s)'{-%c%s,--%s}'[", o->key, o->name, o->key, o->arg ? "+" : "", o->name);
	else
		printf("\t'--%s[", o->name);
	quoted(o->help, "[]:\\");
	putchar(']');
	if (o->arg) {
		putchar(':');
		quoted(o->arg, ":\\");
		putchar(':');
		if (v == WORDS || v == LIST) {
			fputs(v == LIST ? "_sequence compadd - " : "(", stdout);
			print_words(o);
			fputs(v == LIST ? "" : ")", stdout);
		} else {
			fputs(zsh_lists[v], stdout);
		}
	}
	printf("' \\\n");
}

static void zsh(const char *tool, const struct opt *opts)
{
	printf("#compdef %s\n# zsh completion of %s, made from its option table\n_arguments -s -S \\\n", tool, tool);
	for (const struct opt *o = opts; o->type; o++)
		zsh_option(o);
	for (const struct opt *o = common; o->type; o++)
		zsh_option(o);
	printf("\t'*::command:_normal'\n");
}

/* ---- fish */

static void fish_value(const struct opt *o)
{
	enum values v = values_of(o);

	if (v == FILES) {
		fputs(" -r -F", stdout);
		return;
	}
	fputs(" -x", stdout);
	if (v == WORDS) {
		fputs(" -a '", stdout);
		print_words(o);
		putchar('\'');
	} else if (v == LIST) {
		fputs(" -a \"(__fish_append , ", stdout);
		print_words(o);
		fputs(")\"", stdout);
	} else if (v != ANYTHING) {
		printf(" -a '%s'", fish_lists[v]);
	}
}

static void fish_option(const char *tool, const struct opt *o)
{
	printf("complete -c %s", tool);
	if (o->key)
		printf(" -s %c", o->key);
	printf(" -l %s", o->name);
	if (o->arg)
		fish_value(o);
	fputs(" -d '", stdout);
	for (const char *s = o->help; *s; s++)
		printf("%s%c", *s == '\'' || *s == '\\' ? "\\" : "", *s);
	puts("'");
}

static void fish(const char *tool, const struct opt *opts)
{
	printf("# fish completion of %s, made from its option table\n", tool);
	for (const struct opt *o = opts; o->type; o++)
		fish_option(tool, o);
	for (const struct opt *o = common; o->type; o++)
		fish_option(tool, o);
}

void completion_print(int shell, const struct opt *opts)
{
	void (*const print[])(const char *, const struct opt *) = { bash, zsh, fish };

	print[shell](program_invocation_short_name, opts);
}
