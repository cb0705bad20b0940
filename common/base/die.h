/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Messages on standard error, "tool: what: why", and the exit statuses of every tool. */
#ifndef BASE_DIE_H
#define BASE_DIE_H
#include <stdbool.h>
#include <stdlib.h>
#define PRINTF(f, a) __attribute__((format(printf, f, a)))

/* 0 = success, 1 = failure; with -c, the command's own status. */
enum { EXIT_USAGE = 2, EXIT_NOTHING = 3 /* nothing to trace */ };

/* Print "tool: MESSAGE: strerror(err)" (without the last part if err is 0; err may be
 * negative).  Control characters in the arguments are escaped. */
void warning(int err, const char *fmt, ...) PRINTF(2, 3);

/* The same for a progress message; silent with -q. */
void note(const char *fmt, ...) PRINTF(1, 2);

/* warning(), then the end of libbpf's log if it logged anything since log_init(), then exit 1 … */
_Noreturn void die(int err, const char *fmt, ...) PRINTF(2, 3);

/* … or exit with the given status. */
_Noreturn void die_status(int status, int err, const char *fmt, ...) PRINTF(3, 4);

/* Saves libbpf's messages for die(); with verbose, prints them as they arrive instead.
 * quiet silences note(). */
void log_init(bool verbose, bool quiet);

/* Exit 1 if out of memory.  The caller frees the result. */
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n, size_t size);
char *xstrdup(const char *s);

/* Makes room for one more in an array of n elements that has room for `room`, as git's macro of this name does. */
#define ALLOC_GROW(array, n, room) do {								\
	if ((n) == (room)) {									\
		(room) = (room) ? 2 * (room) : 16;						\
		(array) = xrealloc(array, room, sizeof(*(array)));				\
	}											\
} while (0)

char *xprintf(const char *fmt, ...) PRINTF(1, 2);

#endif
