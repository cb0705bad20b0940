/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include "cudatop/command_line.h"
#include "proc/proc.h"
#include "proc/vm_read.h"

enum { ARGS = 2048 };

/* Returns the name without folders; a title may have other words and slashes after the name. */
static const char *command_line_name(const char *word)
{
	const char *slash = memrchr(word, '/', strcspn(word, " "));

	return slash && slash[1] ? slash + 1 : word;
}

static bool is_interpreter(const char *name)
{
	static const char *const names[] = { "python", "pypy", "perl", "ruby", "node", "julia", "bash", "dash", "sh" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const size_t n = strlen(names[i]);

		if (!strncmp(name, names[i], n) && !name[n + strspn(name + n, "0123456789.")])
			return true;
	}
	return false;
}

/* Returns the argument that names the script or module; NULL: there is none.  Options may have letters before -m and -c. */
static const char *script_of(const char *word, const char *end)
{
	for (; word < end; word += strlen(word) + 1) {
		const size_t n = strlen(word);
		const char last = n > 1 && word[0] == '-' && word[1] != '-' ? word[n - 1] : 0;

		if (*word != '-')
			return n ? word : NULL;
		if (n == 1 || last == 'c' || last == 'e')
			return NULL;
		if (last == 'm')
			return word + n + 1 < end ? word + n + 1 : NULL;
		if (n == 2 && (last == 'W' || last == 'X') && (word += n + 1) >= end)	/* its text has been cut */
			return NULL;
	}
	return NULL;
}

void command_line_set(const char *args, size_t size, char text[TOP_COMMAND])
{
	const char *end = args + size, *name = command_line_name(args), *word = args;
	const char *script = is_interpreter(name) ? script_of(args + strlen(args) + 1, end) : NULL;
	int n;

	if (script) {
		word = script;
		name = command_line_name(script);
	}
	n = snprintf(text, TOP_COMMAND, "%s", name);
	for (word += strlen(word) + 1; word < end && n < TOP_COMMAND; word += strlen(word) + 1)
		n += snprintf(text + n, TOP_COMMAND - n, " %s", word);
	for (n = strlen(text); n && text[n - 1] == ' '; n--)	/* a title may leave room after it */
		text[n - 1] = 0;
}

void command_line_read(struct helper_pool *helpers, int pid, char text[TOP_COMMAND])
{
	char args[ARGS + 1];
	unsigned long long start, end;
	size_t size;

	*text = 0;
	if (!proc_arguments(pid, &start, &end))
		return;
	size = vm_read_some(helpers, pid, start, args, end - start < ARGS ? end - start : ARGS);
	args[size] = 0;
	if (size)
		command_line_set(args, size, text);
}
