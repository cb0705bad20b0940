/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Programs that are asking (abi/inject.h): each sends messages on a connection and waits for the answers.  Private to
 * inject_peers.c. */
#ifndef INJECT_CONNECTION_H
#define INJECT_CONNECTION_H

struct inject_peers;

/* Accepts those that wait, and answers those that have sent something. */
void inject_connections_serve(struct inject_peers *p);

void inject_connections_close(struct inject_peers *p);

#endif
