/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The server process: accepts connections when the collector lets it, and gives them to libmicrohttpd. */
#ifndef WEB_SERVER_H
#define WEB_SERVER_H

/* Serves with the descriptors of web_message.h until the collector ends; nlisten is how many sockets to listen on
 * there are. */
_Noreturn void web_server_run(int nlisten);

#endif
