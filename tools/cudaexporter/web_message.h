/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the server and the collector tell each other, over a socket of type SOCK_SEQPACKET. */
#ifndef WEB_MESSAGE_H
#define WEB_MESSAGE_H
#include <stdbool.h>
#include <stdint.h>

/* The descriptors that the server is started with; the listening sockets follow. */
enum { WEB_FD_SOCKET = 3, WEB_FD_BUNDLE = 4, WEB_FD_LISTEN = 5 };
enum { WEB_LISTEN_MAX = 16 };

/* The name that the server is started by. */
#define WEB_SERVER "cudaexporter-server"

enum web_message_type {
	/* from the server */
	WEB_ASK_PAGE,		/* id, format, what, scraper */
	WEB_ASK_ACCEPT,		/* id: may a connection be accepted? */
	/* from the collector */
	WEB_PAGE,		/* id, ok, and if ok the page's descriptor, but for WEB_READY */
	WEB_ACCEPT,		/* id, ok: false: close it; also with id 0, unasked */
	WEB_LEAVE,		/* stop accepting, end what was begun, and exit */
	/* from both */
	WEB_ALIVE,		/* the server answers it with the same */
};

struct web_message {
	uint32_t type;		/* enum web_message_type */
	uint32_t ok;
	uint32_t format, what;	/* as in struct web_request */
	uint64_t scraper;
	uint64_t id;		/* of the question; never 0 */
};

/* Sends m with a descriptor (-1: none), which the caller closes.  Never waits: returns false with errno set if
 * there is no room, or nobody to read it. */
bool web_message_send(int socket, const struct web_message *m, int fd);

/* Receives one.  *fd: its descriptor, for the caller to close, or -1.  Returns 1, 0 if there is none now, or -1
 * if the other side is gone. */
int web_message_receive(int socket, struct web_message *m, int *fd);

/* The same for the collector, which takes no descriptor: the kernel drops one that comes all the same. */
int web_message_receive_alone(int socket, struct web_message *m);

#endif
