/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/die.h"
#include "cli/opt.h"
#include "cudaexporter/web_process.h"
#include "cudaexporter/web_rpc.h"

/* FD_HIGH: above all descriptors that a server knows by number. */
enum { FD_HIGH = 64, ENVIRONMENT = 4 /* variables */, BACKLOG = 128 };
static const unsigned long long LEAVE = 45000000000ull;	/* longer than any request */

int web_fd_high(int fd)
{
	int high = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, FD_HIGH), err = errno;

	if (fd >= 0)
		close(fd);
	errno = err;
	return high;
}

/* Standard error is the collector's until the server serves. */
static void inherit(posix_spawn_file_actions_t *a, int socket, int config_fd, const int *listen, int nlisten)
{
	posix_spawn_file_actions_init(a);
	posix_spawn_file_actions_addopen(a, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(a, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_adddup2(a, socket, WEB_FD_SOCKET);
	posix_spawn_file_actions_adddup2(a, config_fd, WEB_FD_CONFIG);
	for (int i = 0; i < nlisten; i++)
		posix_spawn_file_actions_adddup2(a, listen[i], WEB_FD_LISTEN + i);
}

/* Resets what the collector blocks or handles. */
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

/* Passes on what the dynamic linker and sanitized builds need. */
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

static int spawn(struct web_process *p, int socket, int config_fd, const int *listen, int nlisten)
{
	char count[12], *argv[] = { WEB_SERVER, count, NULL }, *env[ENVIRONMENT + 1];
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attr;
	int err;

	snprintf(count, sizeof(count), "%d", nlisten);
	inherit(&actions, socket, config_fd, listen, nlisten);
	fresh_signals(&attr);
	environment(env);
	err = posix_spawn(&p->pid, "/proc/self/exe", &actions, &attr, argv, env);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attr);
	return err;
}

int web_process_start(struct web_process *p, int config_fd, const int *listen, int nlisten)
{
	int pair[2], err;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return errno;
	pair[1] = web_fd_high(pair[1]);
	err = pair[1] < 0 ? errno : spawn(p, pair[1], config_fd, listen, nlisten);
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

/* Kills and clears p; the caller must reap its pid. */
static void web_process_kill(struct web_process *p)
{
	close(p->socket);
	kill(p->pid, SIGKILL);
	memset(p, 0, sizeof(*p));
}

/* Return true if a process has ended, with the manner of its end in text.  Never waits. */
static bool web_process_reap(int pid, char *text, size_t size)
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

	/* one that does not read its messages is stopped or hangs */
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

/* If the list is full because killed servers do not end, drops one, which stays a zombie. */
void web_killed_add(struct web_killed *list, struct web_process *p, bool report)
{
	struct web_killed *to = &list[0];

	for (int i = WEB_KILLED - 1; i >= 0; i--)
		if (!list[i].pid)
			to = &list[i];
	*to = (struct web_killed){ .pid = p->pid, .report = report };
	web_process_kill(p);
}

void web_killed_reap(struct web_killed *list)
{
	char how[64];

	for (struct web_killed *k = list; k < list + WEB_KILLED; k++) {
		if (!k->pid || !web_process_reap(k->pid, how, sizeof(how)))
			continue;
		if (k->report)
			warning(0, "web server ended %s: restarting it", how);
		k->pid = 0;
	}
}

/* HOST:PORT, :PORT or [IPV6]:PORT, split. */
struct web_address { char host[256], port[8]; };

static bool is_port(const char *s)
{
	size_t n = strspn(s, "0123456789");

	return n && n <= 5 && !s[n] && atol(s) <= 65535;
}

/* Splits s.  Returns NULL, or what is wrong with it. */
static const char *web_address_parse(const char *s, struct web_address *a)
{
	const char *colon = strrchr(s, ':'), *host = s, *end = colon;

	if (!colon || !is_port(colon + 1))
		return "expected a colon and a port at the end";
	if (*s == '[') {
		host = s + 1;
		end = colon > s && colon[-1] == ']' ? colon - 1 : host;
		if (end <= host)
			return "an IPv6 address must be in square brackets";
	} else if (memchr(s, ':', colon - s)) {
		return "an IPv6 address must be in square brackets";
	}
	if ((size_t)(end - host) >= sizeof(a->host))
		return "the host's name is too long";
	snprintf(a->host, sizeof(a->host), "%.*s", (int)(end - host), host);
	snprintf(a->port, sizeof(a->port), "%s", colon + 1);
	return NULL;
}

/* Returns -1 with errno set.  Without a host, an IPv6 socket serves IPv4, too. */
static int bound(const struct addrinfo *i, bool all)
{
	int fd = socket(i->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), on = 1, err;
	int v6only = !all;

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (i->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &v6only, sizeof(v6only));
	if (!bind(fd, i->ai_addr, i->ai_addrlen) && !listen(fd, BACKLOG))
		return web_fd_high(fd);
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

/* Binds to the first possible address of a name; all: to IPv6's wildcard address, else IPv4's. */
static int bound_to_any(const struct addrinfo *list, bool all)
{
	int fd = -1;

	for (int pass = 0; pass < 2 && fd < 0; pass++)
		for (const struct addrinfo *i = list; i && fd < 0; i = i->ai_next)
			if (!all || (i->ai_family == AF_INET6) == !pass)
				fd = bound(i, all);
	return fd;
}

int web_listen(const char *address)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV };
	struct web_address a;
	struct addrinfo *list;
	const char *wrong = web_address_parse(address, &a);
	int fd, err;

	if (wrong)
		usage_error("--web.listen-address: '%s' is not an address such as 127.0.0.1:10950, :10950 or "
			    "[::1]:10950: %s", address, wrong);
	err = getaddrinfo(*a.host ? a.host : NULL, a.port, &hints, &list);
	if (err)
		die(0, "cannot resolve '%s': %s", address,
		    err == EAI_SYSTEM ? strerror(errno) : gai_strerror(err));
	fd = bound_to_any(list, !*a.host);
	if (fd < 0)
		die(errno, "cannot listen on '%s' (choose another with --web.listen-address)", address);
	freeaddrinfo(list);
	return fd;
}

void web_listen_name(int fd, char *text, size_t size)
{
	struct sockaddr_storage at;
	socklen_t length = sizeof(at);
	char host[INET6_ADDRSTRLEN], port[8];

	if (getsockname(fd, (struct sockaddr *)&at, &length) ||
	    getnameinfo((struct sockaddr *)&at, length, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		snprintf(text, size, "?");
	else
		snprintf(text, size, at.ss_family == AF_INET6 ? "[%s]:%s" : "%s:%s", host, port);
}
