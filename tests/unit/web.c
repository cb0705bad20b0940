/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cudaexporter's web server with pages that mean nothing.
 * web [-l ADDRESS]... [-c CONFIG] [-p PATH] [-m REQUESTS] [-n BYTES] [-r FILE]
 *	serves pages of a first line, which says what was asked for, and BYTES more; ready once there is FILE
 * web -x CALL	confines itself as the server does, and then makes a system call: open, stat, socket, exec, fork, wx,
 *		setown, async, dup, linger, fastopen, pass or write; or all that libmicrohttpd makes of the same kinds: flags
 * web -f CONFIG	reads a config, and says what is wrong with it */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/die.h"
#include "cudaexporter/web.h"
#include "cudaexporter/web_config.h"
#include "cudaexporter/web_rpc.h"
#include "cudaexporter/web_server.h"

struct pages {
	long bytes;
	const char *ready;
};

static volatile sig_atomic_t ended;

static void on_signal(int n)
{
	ended = n;
}

static bool page(void *ctx, const struct web_request *r, FILE *out)
{
	const struct pages *p = ctx;

	if (r->what == WEB_READY)
		return !p->ready || !access(p->ready, F_OK);
	if (p->bytes < 0)
		return false;
	fprintf(out, "# format %d what %d scraper %llx\n", r->format, r->what, r->scraper);
	for (long n = p->bytes; n > 0; n -= 16)
		fprintf(out, "%.*s", n < 16 ? (int)n : 16, "cuda_launches 7\n");
	return true;
}

/* A message that could have a descriptor, to the collector, or whatever has its number here. */
static void pass(void)
{
	struct iovec part = { .iov_base = "x", .iov_len = 1 };
	struct msghdr h = { .msg_iov = &part, .msg_iovlen = 1 };

	sendmsg(WEB_FD_SOCKET, &h, MSG_NOSIGNAL);
}

/* What is allowed of what is otherwise refused. */
static void flags(int fd)
{
	int on = 1;
	struct msghdr h = { .msg_iovlen = 0 };

	fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	fcntl(fd, F_SETFD, fcntl(fd, F_GETFD) | FD_CLOEXEC);
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_CORK, &on, sizeof(on));
	for (int each = WEB_FD_SOCKET + 1; each < 64; each++)
		sendmsg(each, &h, MSG_NOSIGNAL);
	send(fd, "x", 1, MSG_NOSIGNAL | MSG_MORE);
	warning(0, "flags are set");
}

static void forbidden(const char *call, int fd)
{
	struct linger linger = { 1, 7 };

	if (!strcmp(call, "setown"))
		fcntl(fd, F_SETOWN, getppid());
	else if (!strcmp(call, "async"))
		fcntl(fd, F_SETFL, O_ASYNC);
	else if (!strcmp(call, "dup"))
		fcntl(fd, F_DUPFD_CLOEXEC, 0);
	else if (!strcmp(call, "linger"))
		setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
	else if (!strcmp(call, "fastopen"))
		send(fd, "x", 1, MSG_FASTOPEN);
	else if (!strcmp(call, "pass"))
		pass();
	else if (!strcmp(call, "flags"))
		flags(fd);
}

static _Noreturn void confined(const char *call)
{
	struct stat st;
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	web_confine_rights();
	web_confine_calls();
	forbidden(call, fd);
	if (!strcmp(call, "open"))
		warning(open("/etc/passwd", O_RDONLY) < 0 ? errno : 0, "open");
	else if (!strcmp(call, "stat"))
		warning(fstatat(AT_FDCWD, "/etc/passwd", &st, 0) ? errno : 0, "stat");
	else if (!strcmp(call, "socket"))
		socket(AF_INET, SOCK_STREAM, 0);
	else if (!strcmp(call, "exec"))
		execl("/bin/true", "true", NULL);
	else if (!strcmp(call, "fork"))
		fork();
	else if (!strcmp(call, "wx"))
		mmap(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else if (!strcmp(call, "write"))
		warning(0, "written");
	_exit(EXIT_SUCCESS);
}

static _Noreturn void try_config(const char *path)
{
	struct web_config *c = web_config_read(path);
	int status = c->error ? EXIT_FAILURE : EXIT_SUCCESS;

	puts(c->error ? c->error : "right");
	web_config_free(c);
	exit(status);
}

int main(int argc, char **argv)
{
	const char *addresses[32];
	struct web_options o = { .listen = addresses };
	struct pages pages = { .bytes = 0 };
	struct web w = { .page = page, .ctx = &pages };

	web_serve_if_server(argc, argv);
	log_init(false, false);
	for (int option; (option = getopt(argc, argv, "l:c:p:m:n:r:x:f:")) != -1; )
		switch (option) {
		case 'l': addresses[o.nlisten++ % 32] = optarg; break;
		case 'c': o.config_file = optarg; break;
		case 'p': o.path = optarg; break;
		case 'm': o.max_requests = atol(optarg); break;
		case 'n': pages.bytes = atol(optarg); break;
		case 'r': pages.ready = optarg; break;
		case 'x': confined(optarg);
		case 'f': try_config(optarg);
		default: return EXIT_USAGE;
		}
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
	web_open(&w, &o);
	note("tracing");
	while (!ended) {
		web_tick(&w);
		usleep(10000);
	}
	web_close(&w);
	return EXIT_SUCCESS;
}
