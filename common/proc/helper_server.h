/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A request to a helper (see helper.h), as the function that serves it sees it. */
#ifndef HELPER_JOB_H
#define HELPER_JOB_H
#include <stdbool.h>
#include <stddef.h>

struct helper_job {
	const void *in;		/* the caller's bytes */
	size_t size;
	int fd;			/* that came with it, closed afterwards; -1 if none */
	char *out;		/* the answer so far: see helper_put() */
	size_t out_size, room;
	int out_fd;
};

typedef void helper_fn(struct helper_job *job);

/* Appends bytes to the answer. */
void helper_put(struct helper_job *job, const void *bytes, size_t size);

/* Sends a descriptor with the answer, and closes it. */
void helper_put_fd(struct helper_job *job, int fd);

/* Ends the helper if it takes more than this many seconds of CPU time from now on; 0: no limit.  For libraries that trust
 * what they read. */
void helper_limit_cpu(unsigned seconds);

/* The rest is private to helper.c. */

/* Goes before a request and an answer. */
struct helper_head {
	helper_fn *fn;		/* NULL in an answer */
	size_t size;		/* of the bytes that follow */
};

/* Serves requests from the socket until the tool is gone; keep, memory and not_killed as in struct helper. */
_Noreturn void helper_serve(int socket, const int *keep, size_t memory, bool not_killed);

/* Write a head with its bytes and a descriptor (-1: none); read a head and a descriptor.  Return
 * false if the other side is gone, with errno set. */
bool helper_write(int socket, const struct helper_head *head, const void *bytes, int fd);
bool helper_read(int socket, struct helper_head *head, int *fd);

#endif
