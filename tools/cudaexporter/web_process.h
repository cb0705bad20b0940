/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Server processes, from the collector's side, and the sockets that they listen on. */
#ifndef CUDAEXPORTER_WEB_PROCESS_H
#define CUDAEXPORTER_WEB_PROCESS_H
#include <stdbool.h>
#include <stddef.h>

struct web_process {
	int pid;			/* 0: none */
	int socket;
	unsigned long long began;	/* as clock_ns() */
	unsigned long long kill_at;	/* deadline of a server that leaves; 0: it serves */
	unsigned long long heard;	/* when its last message came */
	unsigned long long asked;	/* when it was last asked for one; 0: it has answered */
};

enum { WEB_KILLED = 8 };

/* A killed server that has not been reaped.  A list has WEB_KILLED of them, and starts zeroed. */
struct web_killed {
	int pid;	/* 0: none */
	bool report;	/* how it ended */
};

/* Returns a copy of fd that is no descriptor of web_rpc.h, and closes fd; -1 with errno set if that fails. */
int web_fd_high(int fd);

/* Starts a server.  config_fd and listen are of web_fd_high() and stay the caller's.  Returns 0 or an errno. */
int web_process_start(struct web_process *p, int config_fd, const int *listen, int nlisten);

/* Tells it to finish its answers and exit; web_process_overdue() is true if that takes too long. */
void web_process_leave(struct web_process *p);
bool web_process_overdue(const struct web_process *p);

/* Waits up to ms milliseconds for it to exit, then kills it and waits a tenth of a second more. */
void web_process_close(struct web_process *p, int ms);

/* Kills p and adds it to the list. */
void web_killed_add(struct web_killed *list, struct web_process *p, bool report);

/* Call often: reaps those that have ended, with a warning where report is set. */
void web_killed_reap(struct web_killed *list);

/* Binds a nonblocking socket to an argument of --web.listen-address.  Exits if it is malformed (a usage error) or cannot
 * be bound.  Returns a descriptor as web_fd_high() does; the caller closes it. */
int web_listen(const char *address);

/* Writes the socket's address to text, as in a URL. */
void web_listen_name(int fd, char *text, size_t size);

#endif
