/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A user's entry in this machine's name service: files, LDAP or others. */
#ifndef PROC_USER_ENTRY_H
#define PROC_USER_ENTRY_H
#include <stdbool.h>
#include <sys/types.h>

struct user_entry {		/* all zero: none */
	char *name, *home, *shell;
	uid_t uid;
	gid_t gid;
	gid_t *groups;		/* the supplementary ones; may repeat gid */
	size_t ngroups;
};

/* Looks up a name, or a UID as text, with getent(1).  Returns 0, -ENOENT if there is no such user or
 * its entry is malformed, or another -errno if getent cannot be run.  May take as long as the name
 * service does. */
int user_entry_find(struct user_entry *u, const char *key);

/* Reads the supplementary groups of a user that was found.  Returns false if there are none. */
bool user_entry_groups(struct user_entry *u);

void user_entry_free(struct user_entry *u);

/* Parses a UID or GID: digits only, and not the (uid_t)-1 that means "leave it as it is". */
bool user_id_parse(const char *text, uid_t *id);

#endif
