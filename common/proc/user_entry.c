/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/die.h"
#include "proc/user_entry.h"

enum { FIELDS = 7 };	/* of passwd(5) */

bool user_id_parse(const char *text, uid_t *id)
{
	unsigned long n;

	if (!*text || text[strspn(text, "0123456789")])
		return false;
	errno = 0;
	n = strtoul(text, NULL, 10);
	*id = n;
	return !errno && n < (uid_t)-1;
}

/* getpwnam() loads the name service's modules, which a static program cannot.  Returns the first
 * line of its output, which the caller frees; NULL with errno set if it cannot be run or has none. */
static char *getent(const char *database, const char *key)
{
	char *argv[] = { "getent", (char *)database, (char *)key, NULL };
	char *env[] = { "PATH=/usr/bin:/bin", "LC_ALL=C", NULL };
	posix_spawn_file_actions_t actions;
	char *line = NULL;
	size_t room = 0;
	int fds[2], err;
	FILE *f = NULL;
	pid_t child;

	if (pipe2(fds, O_CLOEXEC))
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
	err = posix_spawn(&child, "/usr/bin/getent", &actions, NULL, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	close(fds[1]);
	if (!err)
		f = fdopen(fds[0], "r");
	if (f && getline(&line, &room, f) < 0) {
		free(line);
		line = NULL;
	}
	f ? fclose(f) : close(fds[0]);
	if (!err)
		waitpid(child, NULL, 0);
	errno = err ? err : ENOENT;
	return line;
}

/* Fills in u from "name:password:uid:gid:comment:home:shell\n". */
static bool parse_entry(struct user_entry *u, char *line)
{
	char *field[FIELDS], *end = strchr(line, '\n');
	int n = 0;

	if (!end)	/* cut short */
		return false;
	*end = '\0';
	while (n < FIELDS && line)
		field[n++] = strsep(&line, ":");
	if (n < FIELDS || line || !*field[0] || !user_id_parse(field[2], &u->uid) ||
	    !user_id_parse(field[3], &u->gid))
		return false;
	u->name = xstrdup(field[0]);
	u->home = xstrdup(field[5]);
	u->shell = xstrdup(field[6]);
	return true;
}

int user_entry_find(struct user_entry *u, const char *key)
{
	bool found;
	char *line;
	uid_t uid;

	*u = (struct user_entry){};
	if (*key == '-' || strpbrk(key, ":\n"))	/* getent would take it for an option */
		return -ENOENT;
	line = getent("passwd", key);
	if (!line)
		return -errno;
	found = parse_entry(u, line);
	free(line);
	if (found && user_id_parse(key, &uid) && uid != u->uid)
		found = false;
	if (!found)
		user_entry_free(u);
	return found ? 0 : -ENOENT;
}

/* "name   4 24 100\n": a name may have spaces. */
static bool parse_groups(struct user_entry *u, char *line)
{
	size_t len = strlen(u->name);
	char *word, *rest;

	if (strncmp(line, u->name, len) || !isspace((unsigned char)line[len]) || !strchr(line, '\n'))
		return false;
	rest = line + len;
	while ((word = strsep(&rest, " \n"))) {
		if (!*word)
			continue;
		u->groups = xrealloc(u->groups, u->ngroups + 1, sizeof(*u->groups));
		if (!user_id_parse(word, &u->groups[u->ngroups++]))
			return false;
	}
	return true;
}

bool user_entry_groups(struct user_entry *u)
{
	char *line = getent("initgroups", u->name);
	bool known = line && parse_groups(u, line);

	free(line);
	if (!known)
		u->ngroups = 0;
	return known;
}

void user_entry_free(struct user_entry *u)
{
	free(u->name);
	free(u->home);
	free(u->shell);
	free(u->groups);
	*u = (struct user_entry){};
}
