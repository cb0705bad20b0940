/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The helper's own side.  Private to helper.c. */
#ifndef HELPER_CHILD_H
#define HELPER_CHILD_H
#include "proc/helper.h"

/* Goes before a request and an answer. */
struct helper_head {
	helper_fn *fn;		/* NULL in an answer */
	size_t size;		/* of the bytes that follow */
};

/* Serves requests from the socket until the tool is gone. */
_Noreturn void helper_child(int socket, const int *keep, size_t memory);

/* Write a head with its bytes and a descriptor (-1: none); read a head and a descriptor.  Return
 * false if the other side is gone, with errno set. */
bool helper_write(int socket, const struct helper_head *head, const void *bytes, int fd);
bool helper_read(int socket, struct helper_head *head, int *fd);

#endif
