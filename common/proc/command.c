/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/close_range.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/die.h"
#include "cli/opt.h"
#include "proc/command.h"
#include "proc/confine.h"
#include "proc/privileges.h"
#include "proc/signals.h"

static void read_groups(struct user_entry *entry)
{
	if (entry->name && !user_entry_groups(entry))
		warning(0, "the command runs without supplementary groups: 'getent initgroups %s' "
			"does not list those of the user", entry->name);
}

/* UID:GID is taken as it is, without supplementary groups. */
static bool choose_numbers(struct command_user *u, const char *name)
{
	char *text = xstrdup(name), *gid = strchr(text, ':');
	bool valid;

	if (gid)
		*gid++ = '\0';
	valid = gid && user_id_parse(text, &u->uid) && user_id_parse(gid, &u->gid);
	if (valid)
		user_entry_find(&u->entry, text);
	else if (gid)
		usage_error("--user: '%s' is not a name, a UID or UID:GID", name);
	free(text);
	return valid;
}

static void choose_named(struct command_user *u, const char *name)
{
	int err;

	if (getauxval(AT_SECURE))	/* its caller lacks its privileges */
		die(0, "--user: not with a tool whose file has capabilities or is set-user-ID: "
		    "run it as root");
	u->other = true;
	if (choose_numbers(u, name))
		return;
	err = user_entry_find(&u->entry, name);
	if (err == -ENOENT && user_id_parse(name, &u->uid))
		die(0, "--user: there is no user with the UID %s: give UID:GID", name);
	if (err == -ENOENT)
		die(0, "--user: there is no user '%s'", name);
	if (err)
		die(err, "--user: cannot run /usr/bin/getent to look up '%s' (UID:GID needs none)", name);
	u->uid = u->entry.uid;
	u->gid = u->entry.gid;
	read_groups(&u->entry);
}

/* sudo sets both.  Its caller may not be in this machine's list of users, or be there with another group. */
static void choose_sudo(struct command_user *u, const char *uid, const char *gid)
{
	if (!user_id_parse(uid, &u->uid) || !gid || !user_id_parse(gid, &u->gid))
		die(0, "invalid SUDO_UID=%s or SUDO_GID=%s: give -u USER", uid, gid ? gid : "");
	u->other = u->uid != 0;
	if (!u->other) {
		u->gid = getgid();
		return;
	}
	if (user_entry_find(&u->entry, uid))
		warning(0, "the command runs without supplementary groups: 'getent passwd %s' "
			"does not list the user who called sudo", uid);
	read_groups(&u->entry);
}

void command_user_choose(struct command_user *u, const char *name)
{
	const char *sudo = getenv("SUDO_UID");

	*u = (struct command_user){ .uid = getuid(), .gid = getgid() };
	if (name)
		choose_named(u, name);
	else if (sudo && !u->uid)	/* only root's environment is trusted */
		choose_sudo(u, sudo, getenv("SUDO_GID"));
	if (u->other && privilege_lacks(PRIVILEGE_SETUID))
		die(0, "not permitted to run the command as user %s: %s", name ?: u->entry.name ?: sudo,
		    privilege_missing(PRIVILEGE_SETUID));
}

/* As sudo and su do.  An unknown user must not have the caller's: it would write there. */
static bool set_environment(const struct user_entry *entry)
{
	if (!entry->name)
		return !setenv("HOME", "/", 1) && !unsetenv("USER") && !unsetenv("LOGNAME");
	return !setenv("HOME", *entry->home ? entry->home : "/", 1) &&
	       !setenv("USER", entry->name, 1) && !setenv("LOGNAME", entry->name, 1) &&
	       !setenv("SHELL", *entry->shell ? entry->shell : "/bin/sh", 1);
}

static bool set_groups(const struct command_user *u)
{
	size_t n = u->entry.ngroups + 1;	/* gid is the first, as initgroups(3) has it */
	gid_t *groups = xcalloc(n, sizeof(*groups));
	bool set;

	groups[0] = u->gid;
	if (n > 1)
		memcpy(groups + 1, u->entry.groups, (n - 1) * sizeof(*groups));
	set = !setgroups(n, groups);
	free(groups);
	return set;
}

/* Returns what could not be changed, with errno set; NULL: all was.  The caller's own user keeps the caller's
 * descriptors and capabilities: those of the tool's file do not outlive the next exec. */
static const char *change(const struct command_user *u)
{
	/* as sudo: the caller's open files are not for another user */
	if (u->other && syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC))
		return "descriptors";
	if (u->other && !set_environment(&u->entry))
		return "environment";
	if (u->other && !set_groups(u))
		return "groups";
	if (!confine_user(u->uid, u->gid))
		return "user and group";
	if (u->other && !confine_capabilities())
		return "capabilities";
	return NULL;
}

bool command_user_become(const struct command_user *u)
{
	const char *failed = change(u);

	if (failed)
		warning(errno, "the command is not run: cannot change to the %s of user %u", failed,
			u->uid);
	return !failed;
}

void command_user_free(struct command_user *u)
{
	user_entry_free(&u->entry);
}

static int child, go_fd = -1;
static int status;
static bool ended, own_session;

/* Takes over the variables that command_setenv() sends, until command_go() sends an empty string.  Return false if the
 * tool is gone. */
static bool read_environment(int fd)
{
	FILE *f = fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;

	while (f && getdelim(&line, &room, 0, f) > 0) {
		if (!*line)
			return true;
		putenv(line);
		line = NULL;
		room = 0;
	}
	return false;
}

/* The child writes a byte when it is the user's; then the tool sends what it has for it. */
static _Noreturn void run(const char *text, char **argv, const struct command_user *user, int fd)
{
	char c = 0;
	int err;

	/* another user must not have the caller's terminal, into which they could type (TIOCSTI, TIOCLINUX) */
	if ((user->other && setsid() < 0) || !command_user_become(user) || write(fd, &c, 1) != 1 || !read_environment(fd))
		_exit(EXIT_FAILURE);
	if (argv)
		execvp(*argv, argv);
	else
		execl("/bin/sh", "sh", "-c", text, (char *)NULL);
	err = errno;
	warning(err, "cannot run %s", argv ? *argv : "/bin/sh");
	_exit(err == ENOENT ? COMMAND_NOT_FOUND : COMMAND_NOT_RUN);
}

int command_prepare(const char *text, char **argv, const struct command_user *user)
{
	int fds[2];
	char c;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds))
		die(errno, "cannot create a socket pair");
	fflush(stdout);
	child = fork();
	if (child < 0)
		die(errno, "cannot fork");
	if (!child) {
		close(fds[1]);
		run(text, argv, user, fds[0]);
	}
	close(fds[0]);
	go_fd = fds[1];
	own_session = user->other;
	if (read(go_fd, &c, 1) != 1)	/* it has printed the reason */
		exit(EXIT_FAILURE);
	signal(SIGCHLD, SIG_DFL);	/* a caller may ignore it: then there is no exit status */
	return child;
}

static void send_text(const char *text, size_t size)
{
	ssize_t n;

	for (; size; text += n, size -= n) {
		n = write(go_fd, text, size);
		if (n < 0)
			die(errno, "cannot start the command");
	}
}

void command_setenv(const char *name, const char *value)
{
	char *text = value ? xprintf("%s=%s", name, value) : xstrdup(name);	/* putenv(3) of a name unsets it */

	send_text(text, strlen(text) + 1);
	free(text);
}

void command_go(void)
{
	send_text("", 1);
	close(go_fd);
}

bool command_ended(void)
{
	if (!ended && waitpid(child, &status, WNOHANG) == child)
		ended = true;
	return ended;
}

bool command_killed(void)
{
	return command_ended() && (WIFSIGNALED(status) || WEXITSTATUS(status) > 128);
}

int command_has_signal(void)
{
	return signal_of_terminal() && !own_session ? getpgrp() : 0;
}

int command_signal(int sig)
{
	int group = own_session ? child : command_has_signal();

	if (!command_ended() && group != getpgrp())	/* else its pid may be reused */
		kill(own_session ? -child : child, sig);
	return group;
}

int command_finish(void)
{
	while (!command_ended())
		if (waitpid(child, &status, 0) == child || errno != EINTR)
			ended = true;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
