/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include "gpuprobe/ptxas_run.h"

static bool succeeds(const struct ran *ran, const char *file, char **argv)
{
	pid_t child = fork(), got;
	int status;

	if (!child) {
		if (dup2(ran->out, STDOUT_FILENO) >= 0 && dup2(ran->err, STDERR_FILENO) >= 0)
			execv(file, argv);
		_exit(255);
	}
	if (child < 0)
		return false;
	do
		got = waitpid(child, &status, 0);
	while (got < 0 && errno == EINTR);
	return got == child && WIFEXITED(status) && !WEXITSTATUS(status);
}

bool ptxas_run(struct ran *ran, const char *file, char **argv)
{
	ran->out = memfd_create("out", MFD_CLOEXEC);
	ran->err = memfd_create("err", MFD_CLOEXEC);
	if (ran->out >= 0 && ran->err >= 0 && succeeds(ran, file, argv))
		return true;
	close(ran->out);
	close(ran->err);
	return false;
}

static void copy(int from, int to)
{
	char buffer[4096];
	ssize_t n;

	lseek(from, 0, SEEK_SET);
	while ((n = read(from, buffer, sizeof(buffer))) > 0)
		for (ssize_t at = 0, put; at < n; at += put) {
			put = write(to, buffer + at, (size_t)(n - at));
			if (put < 0)
				return;
		}
}

void ptxas_ran(struct ran *ran)
{
	copy(ran->out, STDOUT_FILENO);
	copy(ran->err, STDERR_FILENO);
	close(ran->out);
	close(ran->err);
}
