/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The server's libmicrohttpd: a thread for each connection. */
#ifndef WEB_HTTP_H
#define WEB_HTTP_H
#include "cudaexporter/web_state.h"

/* Starts it, and has it read all that it opens.  Dies on failure. */
void web_http_start(struct web_server *s);

/* Accepts from a listening socket while there is room, 16 at most; refuse: closes them instead.  Returns false if
 * there was no room, or no descriptor. */
bool web_http_accept(struct web_server *s, int listener, bool refuse);

#endif
