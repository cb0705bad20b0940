/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "session/command.h"
#include "session/command_user.h"
#include "session/signals.h"
#include "base/die.h"

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

	/* nor is the terminal of the caller, into which they could type (TIOCSTI, TIOCLINUX), another user's */
	if ((user->other && setsid() < 0) || !command_user_become(user) || write(fd, &c, 1) != 1 || !read_environment(fd))
		_exit(EXIT_FAILURE);
	if (argv)
		execvp(*argv, argv);
	else
		execl("/bin/sh", "sh", "-c", text, (char *)NULL);
	err = errno;
	warning(err, "cannot run %s", argv ? *argv : "/bin/sh");
	_exit(err == ENOENT ? 127 : 126);	/* as sh(1) */
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
	if (read(go_fd, &c, 1) != 1)	/* it has said why */
		exit(EXIT_FAILURE);
	signal(SIGCHLD, SIG_DFL);	/* a caller may ignore it: then there is no exit status */
	return child;
}

static void tell(const char *text, size_t size)
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
	char *text = xprintf("%s=%s", name, value);

	tell(text, strlen(text) + 1);
	free(text);
}

void command_go(void)
{
	tell("", 1);
	close(go_fd);
}

bool command_ended(void)
{
	if (!ended && waitpid(child, &status, WNOHANG) == child)
		ended = true;
	return ended;
}

int command_has_signal(void)
{
	return signal_of_terminal() && !own_session ? getpgrp() : 0;
}

int command_signal(int sig)
{
	int group = own_session ? child : command_has_signal();

	if (!command_ended() && group != getpgrp())	/* else its number may be another's */
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
