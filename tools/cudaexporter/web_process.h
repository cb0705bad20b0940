/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Server processes, as the collector sees them. */
#ifndef WEB_PROCESS_H
#define WEB_PROCESS_H
#include <stdbool.h>
#include <stddef.h>

struct web_process {
	int pid;			/* 0: none */
	int socket;
	unsigned long long began;	/* as clock_ns() */
	unsigned long long kill_at;	/* it leaves, and has until then; 0: it serves */
	unsigned long long heard;	/* when its last message came */
	unsigned long long asked;	/* when it was asked for one; 0: one has come since */
};

/* The lowest descriptor for what a server inherits: it must not be one that the server knows by its number. */
enum { WEB_FD_HIGH = 64 };

/* Returns a copy of fd at WEB_FD_HIGH or above, and closes fd; -1 with errno set if that fails. */
int web_fd_high(int fd);

/* Starts a server.  bundle and listen are above WEB_FD_HIGH and stay the caller's.  Returns 0 or an errno. */
int web_process_start(struct web_process *p, int bundle, const int *listen, int nlisten);

/* Kills it, if it still runs, and forgets it; web_process_reap() is for the caller to call with its pid. */
void web_process_kill(struct web_process *p);

/* Return true if a process has ended, and write how to text.  Never waits. */
bool web_process_reap(int pid, char *text, size_t size);

/* Tells it to end what it has begun; web_process_overdue() is true if it takes too long. */
void web_process_leave(struct web_process *p);
bool web_process_overdue(const struct web_process *p);

/* Lets it end by itself, for up to ms milliseconds, then kills it, and waits for that a tenth of a second. */
void web_process_close(struct web_process *p, int ms);

#endif
