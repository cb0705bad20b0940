/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Everything that passes between the collector and the server: the server's configuration, in a sealed memory file; and
 * messages over a socket of type SOCK_SEQPACKET.  In the server, threads wait for pages, and one thread receives them. */
#ifndef CUDAEXPORTER_WEB_RPC_H
#define CUDAEXPORTER_WEB_RPC_H
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include "cudaexporter/web_config.h"

/* The descriptors that the server is started with; the listening sockets follow. */
enum { WEB_FD_SOCKET = 3, WEB_FD_CONFIG = 4, WEB_FD_LISTEN = 5 };
enum { WEB_LISTEN_MAX = 16, WEB_SECRET = 32 };

/* The name that the server is started by. */
#define WEB_SERVER "cudaexporter-server"

/* All that the server gets at its start: it opens no file. */
struct web_server_config {
	const char *path;		/* of the metrics */
	long max_requests;
	unsigned char secret[WEB_SECRET];	/* keys the hash of a scraper's address */
	const char *priority;		/* of TLS; NULL: plain HTTP */
	const char *cert, *key, *ca;	/* contents; NULL: none */
	enum web_client_auth client_auth;
	bool profiles;			/* there are some */
	bool asks;			/* before it accepts a connection, because there is a config file */
	struct web_user *users;
	int nusers;
};

/* Returns a descriptor, which the caller closes, or -1 with errno set. */
int web_config_fd_write(const struct web_server_config *c);

/* Reads what web_config_fd_write() wrote; the strings live as long as the process.  Returns false with errno set if that
 * fails. */
bool web_config_fd_read(int fd, struct web_server_config *c);

/* Creates a memory file, to be written by the returned FILE.  Returns NULL with errno set if that fails. */
FILE *web_memfd_open(const char *name, int *fd);

/* Closes f and forbids all changes of the file.  Returns fd, which the caller closes; or -1, with fd closed, if writing
 * failed or keep is false. */
int web_memfd_seal(FILE *f, int fd, bool keep);

enum web_format { WEB_TEXT, WEB_OPENMETRICS };
enum web_what { WEB_METRICS, WEB_PROBES, WEB_READY, WEB_PROFILE_HELD, WEB_PROFILE_LAUNCHES, WEB_PROFILE_WAITS };

static inline bool web_is_profile(enum web_what what)
{
	return what >= WEB_PROFILE_HELD;
}

/* Profiles of a time to come: how many at the same time, and of how many seconds. */
enum { WEB_LATER = 4, WEB_SECONDS = 30 };

struct web_request {
	enum web_format format;		/* of WEB_METRICS */
	enum web_what what;
	/* A hash of the client's address, which does not change while the collector runs.  0: the request had no
	 * X-Prometheus-Scrape-Timeout-Seconds, so the client is no Prometheus. */
	unsigned long long scraper;
	unsigned seconds;		/* of a profile: what comes in so many; 0: since tracing began */
	/* set by the collector, with seconds: */
	int window;			/* the profile's number, less than WEB_LATER */
	bool begins;			/* it begins, and nothing is written; else it ends */
};

enum web_message_type {
	/* from the server */
	WEB_ASK_PAGE,		/* id, format, what, scraper, seconds */
	WEB_ASK_ACCEPT,		/* id: may a connection be accepted? */
	/* from the collector */
	WEB_PAGE,		/* id, ok, and if ok the page's descriptor, except for WEB_READY */
	WEB_ACCEPT,		/* id, ok: false: close it; also unrequested, with id 0 */
	WEB_LEAVE,		/* stop accepting, finish pending answers, and exit */
	/* from both */
	WEB_ALIVE,		/* the server answers it with the same */
};

struct web_message {
	uint32_t type;		/* enum web_message_type */
	uint32_t ok;
	uint32_t format, what, seconds;	/* as in struct web_request */
	uint32_t unused;
	uint64_t scraper;
	uint64_t id;		/* of the request; never 0 */
};

/* Sends m with a descriptor (-1: none), which the caller closes.  Never waits: returns false with errno set if the
 * socket is full or the peer is gone. */
bool web_message_send(int socket, const struct web_message *m, int fd);

/* Receives one.  *fd: its descriptor, for the caller to close, or -1.  Returns 1, 0 if there is none now, or -1 if the
 * peer is gone. */
int web_message_receive(int socket, struct web_message *m, int *fd);

/* The same for the collector, which takes no descriptor: the kernel drops one. */
int web_message_receive_alone(int socket, struct web_message *m);

enum { WEB_WAITS = 16 };
enum web_answer { WEB_ANSWER_PAGE, WEB_ANSWER_NONE, WEB_ANSWER_LATE };

/* The server's requests to the collector. */
struct web_rpc {
	int socket;
	pthread_mutex_t lock;
	pthread_cond_t answered;
	uint64_t last_id;
	struct web_wait {		/* a waiting thread */
		uint64_t id;		/* 0: free */
		bool answered, ok;
		int fd;
	} wait[WEB_WAITS];
};

void web_rpc_init(struct web_rpc *a, int socket);

/* Returns an id for a request, never used before. */
uint64_t web_rpc_id(struct web_rpc *a);

/* Requests a page, and waits for it until clock_ns() is deadline.  WEB_ANSWER_PAGE: *fd is the page's, for the caller to
 * close (-1 for WEB_READY); WEB_ANSWER_NONE: no page yet; WEB_ANSWER_LATE: no answer in time. */
enum web_answer web_rpc_page(struct web_rpc *a, const struct web_request *r, unsigned long long deadline, int *fd);

/* Passes an answer with its descriptor to the thread that waits for it, or drops it if the thread has given up. */
void web_rpc_answer(struct web_rpc *a, const struct web_message *m, int fd);

#endif
