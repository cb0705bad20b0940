/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Whether equal UIDs are the same user.  In a user namespace the kernel reports all users that are
 * not mapped as one UID, the overflow UID (user_namespaces(7)): a process with it is no other's equal,
 * unless every user is mapped.  Tools decide by this rule, and their libraries in programs, some of
 * which have no C library. */
#ifndef BASE_OVERFLOW_UID_H
#define BASE_OVERFLOW_UID_H
#include <stdbool.h>

#define UID_MAP_FILE "/proc/self/uid_map"
#define OVERFLOW_UID_FILE "/proc/sys/kernel/overflowuid"

/* OVERFLOW_UID: the kernel's default.  USERS_FILE: bytes of either file that are enough. */
enum { OVERFLOW_UID = 65534, USERS_FILE = 128 };

struct users {
	unsigned int overflow;
	bool mapped;		/* all are */
};

/* Reads a decimal number from a text, ended by 0.  Returns its end; NULL: there is none. */
static inline const char *users_number(const char *text, unsigned int *n)
{
	const char *at = text;

	while (*at == ' ' || *at == '\t')
		at++;
	for (text = at, *n = 0; *at >= '0' && *at <= '9'; at++)
		*n = *n * 10 + (unsigned int)(*at - '0');
	return at == text ? (const char *)0 : at;
}

/* Return true if the text of UID_MAP_FILE, ended by 0, maps every user: the kernel accepts such a
 * line only if the outer namespace maps every user, too. */
static inline bool users_all_mapped(const char *map)
{
	unsigned int first, outer, count;
	const char *at = users_number(map, &first);

	at = at ? users_number(at, &outer) : at;
	return at && users_number(at, &count) && !first && count == ~0u;
}

/* Returns the number in the text of OVERFLOW_UID_FILE, ended by 0. */
static inline unsigned int users_overflow(const char *text)
{
	unsigned int n;

	return users_number(text, &n) ? n : OVERFLOW_UID;
}

/* Return true if two processes with this UID have the same user. */
static inline bool users_told_apart(const struct users *u, unsigned int uid)
{
	return u->mapped || uid != u->overflow;
}

#endif
