/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cudabt/path_uid.h"

enum { LINKS = 40, NOBODY = 65534 };

static bool trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* In a sticky directory only the owner of an entry or of the directory can replace the entry. */
static bool writable(const struct stat *s)
{
	return S_ISDIR(s->st_mode) ? (s->st_mode & 022) && !(s->st_mode & S_ISVTX) :
	       !S_ISLNK(s->st_mode) && (s->st_mode & 022);
}

/* The length of the first prefix that is a link, 0 if none is, -1 if a user can redirect one. */
static int first_link(const char *path, uid_t *uid)
{
	char prefix[PATH_MAX];
	struct stat s;
	size_t n = 1;

	do {
		n += strcspn(path + n, "/");
		memcpy(prefix, path, n);
		prefix[n] = 0;
		*uid = NOBODY;
		if (lstat(prefix, &s))
			return -1;
		if (!trusted(s.st_uid)) {
			*uid = s.st_uid;
			return -1;
		}
		if (writable(&s))
			return -1;
		if (S_ISLNK(s.st_mode))
			return n;
		n += strspn(path + n, "/");
	} while (path[n]);
	return 0;
}

bool path_uid(const char *path, uid_t *uid)
{
	char now[PATH_MAX], target[PATH_MAX], next[2 * PATH_MAX];
	int links = 0, n;

	*uid = NOBODY;
	if (*path != '/' || strlen(path) >= sizeof(now))
		return true;
	strcpy(now, path);
	while ((n = first_link(now, uid)) > 0 && ++links <= LINKS) {
		int dir = n, len;
		ssize_t to;

		memcpy(next, now, n);
		next[n] = 0;
		to = readlink(next, target, sizeof(target));
		if (to <= 0 || to == sizeof(target))
			return true;
		while (now[dir - 1] != '/')
			dir--;
		len = snprintf(next, sizeof(next), "%.*s%.*s%s", *target == '/' ? 0 : dir, now, (int)to,
			       target, now + n);
		if (len >= PATH_MAX)
			return true;
		memcpy(now, next, len + 1);
	}
	return n != 0;
}
