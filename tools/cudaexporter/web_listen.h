/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The addresses that the server listens on. */
#ifndef WEB_LISTEN_H
#define WEB_LISTEN_H
#include <stddef.h>

/* HOST:PORT, :PORT or [IPV6]:PORT, taken apart. */
struct web_address { char host[256], port[8]; };

/* Binds a nonblocking socket to what --web.listen-address has.  Exits if it is no address (a usage error) or
 * cannot be bound.  Returns a descriptor above the ones that a server is started with; the caller closes it. */
int web_listen(const char *address);

/* Writes the address that the socket has to text, as it stands in a URL. */
void web_listen_name(int fd, char *text, size_t size);

/* Takes s apart.  Returns NULL, or what is wrong with it. */
const char *web_address_parse(const char *s, struct web_address *a);

#endif
