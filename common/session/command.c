/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include "session/command.h"
#include "base/die.h"

static int child, go_fd = -1;
static int status;
static bool ended;

static _Noreturn void run(const char *text, int fd)
{
	char c;

	signal(SIGPIPE, SIG_DFL);
	if (read(fd, &c, 1) != 1)
		_exit(EXIT_FAILURE);
	execl("/bin/sh", "sh", "-c", text, (char *)NULL);
	warning(errno, "/bin/sh");
	_exit(127);
}

int command_prepare(const char *text)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC))
		die(errno, "cannot create a pipe");
	fflush(stdout);
	child = fork();
	if (child < 0)
		die(errno, "cannot fork");
	if (!child) {
		close(fds[1]);
		run(text, fds[0]);
	}
	close(fds[0]);
	go_fd = fds[1];
	return child;
}

void command_go(void)
{
	if (write(go_fd, "", 1) != 1)
		die(errno, "cannot start the command");
	close(go_fd);
}

bool command_ended(void)
{
	if (!ended && waitpid(child, &status, WNOHANG) == child)
		ended = true;
	return ended;
}

int command_finish(void)
{
	while (!command_ended())
		if (waitpid(child, &status, 0) == child || errno != EINTR)
			ended = true;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
