/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* All that the server is told at its start, in a sealed memory file: it opens no file itself. */
#ifndef WEB_BUNDLE_H
#define WEB_BUNDLE_H
#include <stddef.h>
#include <stdbool.h>
#include <stdio.h>
#include "cudaexporter/web_settings.h"

enum { WEB_SECRET = 32 };

struct web_bundle {
	const char *path;		/* of the metrics */
	long max_requests;
	unsigned char secret[WEB_SECRET];	/* keys the hash of who asks */
	const char *priority;		/* of TLS; NULL: plain HTTP */
	const char *cert, *key, *ca;	/* contents; NULL: none */
	enum web_client_auth client_auth;
	bool asks;			/* before it accepts a connection: there is a config */
	struct web_user *users;
	int nusers;
};

/* Writes b.  Returns a descriptor, which the caller closes, or -1 with errno set. */
int web_bundle_write(const struct web_bundle *b);

/* Reads what web_bundle_write() wrote into b, whose strings live as long as the process.  Returns false with
 * errno set if that fails. */
bool web_bundle_read(int fd, struct web_bundle *b);

/* Opens a copy of fd for writing.  The caller closes both.  Returns NULL with errno set if that fails. */
FILE *web_file_of(int fd);

/* Forbids all changes of a memory file.  Returns false with errno set if that fails. */
bool web_seal(int fd);

#endif
