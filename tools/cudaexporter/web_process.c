/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "cudaexporter/web_message.h"
#include "cudaexporter/web_process.h"

enum { ENVIRONMENT = 4 /* variables */ };
static const unsigned long long LEAVE = 45000000000ull;	/* more than any request takes */

int web_fd_high(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, WEB_FD_HIGH), err = errno;

	if (fd >= 0)
		close(fd);
	errno = err;
	return high;
}

/* Standard error is the collector's until the server serves. */
static void inherit(posix_spawn_file_actions_t *a, int socket, int bundle, const int *listen, int nlisten)
{
	posix_spawn_file_actions_init(a);
	posix_spawn_file_actions_addopen(a, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(a, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(a, socket, WEB_FD_SOCKET);
	posix_spawn_file_actions_adddup2(a, bundle, WEB_FD_BUNDLE);
	for (int i = 0; i < nlisten; i++)
		posix_spawn_file_actions_adddup2(a, listen[i], WEB_FD_LISTEN + i);
}

/* Its signals are as in a new process, whatever the collector blocks or handles. */
static void fresh_signals(posix_spawnattr_t *attr)
{
	sigset_t all, none;

	sigfillset(&all);
	sigemptyset(&none);
	posix_spawnattr_init(attr);
	posix_spawnattr_setsigdefault(attr, &all);
	posix_spawnattr_setsigmask(attr, &none);
	posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
}

/* What the dynamic linker and sanitized builds need; the rest is the collector's own. */
static void environment(char **env)
{
	static const char *const names[] = { "LD_LIBRARY_PATH=", "ASAN_OPTIONS=", "LSAN_OPTIONS=", "UBSAN_OPTIONS=" };
	int n = 0;

	for (char **e = environ; *e; e++)
		for (int i = 0; i < ENVIRONMENT; i++)
			if (n < ENVIRONMENT && !strncmp(*e, names[i], strlen(names[i])))
				env[n++] = *e;
	env[n] = NULL;
}

static int spawn(struct web_process *p, int socket, int bundle, const int *listen, int nlisten)
{
	char count[12], *argv[] = { WEB_SERVER, count, NULL }, *env[ENVIRONMENT + 1];
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int err;

	snprintf(count, sizeof(count), "%d", nlisten);
	inherit(&actions, socket, bundle, listen, nlisten);
	fresh_signals(&attr);
	environment(env);
	err = posix_spawn(&p->pid, "/proc/self/exe", &actions, &attr, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return err;
}

int web_process_start(struct web_process *p, int bundle, const int *listen, int nlisten)
{
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return errno;
	pair[1] = web_fd_high(pair[1]);
	err = pair[1] < 0 ? errno : spawn(p, pair[1], bundle, listen, nlisten);
	if (pair[1] >= 0)
		close(pair[1]);
	if (err) {
		close(pair[0]);
		p->pid = 0;
		return err;
	}
	p->socket = pair[0];
	p->began = p->heard = clock_ns();
	p->kill_at = p->asked = 0;
	return 0;
}

void web_process_kill(struct web_process *p)
{
	close(p->socket);
	kill(p->pid, SIGKILL);
	memset(p, 0, sizeof(*p));
}

bool web_process_reap(int pid, char *text, size_t size)
{
	int status = 0;
	pid_t ended = waitpid(pid, &status, WNOHANG);

	if (!ended || (ended < 0 && errno == EINTR))
		return false;
	if (WIFSIGNALED(status))
		snprintf(text, size, "by signal %d, %s", WTERMSIG(status), strsignal(WTERMSIG(status)));
	else
		snprintf(text, size, "with status %d", WEXITSTATUS(status));
	return true;
}

void web_process_leave(struct web_process *p)
{
	struct web_message m = { .type = WEB_LEAVE };

	/* one that does not even read is stopped, or worse */
	p->kill_at = web_message_send(p->socket, &m, -1) ? clock_ns() + LEAVE : 1;
}

bool web_process_overdue(const struct web_process *p)
{
	return p->kill_at && clock_ns() > p->kill_at;
}

static bool reaped_within(int pid, int ms)
{
	char how[64];

	for (int i = 0; i <= ms / 10; i++) {
		if (web_process_reap(pid, how, sizeof(how)))
			return true;
		usleep(10000);
	}
	return false;
}

void web_process_close(struct web_process *p, int ms)
{
	int pid = p->pid;

	shutdown(p->socket, SHUT_RDWR);
	if (ms && reaped_within(pid, ms)) {
		close(p->socket);
		memset(p, 0, sizeof(*p));
		return;
	}
	web_process_kill(p);
	reaped_within(pid, 100);
}
