/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <grp.h>
#include <linux/close_range.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/die.h"
#include "cli/opt.h"
#include "proc/confine.h"
#include "proc/privileges.h"
#include "session/command_user.h"

static void read_groups(struct user_entry *entry)
{
	if (entry->name && !user_entry_groups(entry))
		warning(0, "the command runs without supplementary groups: 'getent initgroups %s' "
			"does not know those of the user", entry->name);
}

/* UID:GID is taken as it is, without supplementary groups. */
static bool choose_numbers(struct command_user *u, const char *name)
{
	char *text = xstrdup(name), *gid = strchr(text, ':');
	bool valid;

	if (gid)
		*gid++ = '\0';
	valid = gid && user_id_parse(text, &u->uid) && user_id_parse(gid, &u->gid);
	if (valid)
		user_entry_find(&u->entry, text);
	else if (gid)
		usage_error("--user: '%s' is not a name, a UID or UID:GID", name);
	free(text);
	return valid;
}

static void choose_named(struct command_user *u, const char *name)
{
	int err;

	if (getauxval(AT_SECURE))	/* its caller does not have its privileges */
		die(0, "--user: not with a tool whose file has capabilities or is set-user-ID: "
		    "run it as root");
	u->other = true;
	if (choose_numbers(u, name))
		return;
	err = user_entry_find(&u->entry, name);
	if (err == -ENOENT && user_id_parse(name, &u->uid))
		die(0, "--user: there is no user with the UID %s: give UID:GID", name);
	if (err == -ENOENT)
		die(0, "--user: there is no user '%s'", name);
	if (err)
		die(err, "--user: cannot run /usr/bin/getent to look up '%s' (UID:GID needs none)", name);
	u->uid = u->entry.uid;
	u->gid = u->entry.gid;
	read_groups(&u->entry);
}

/* sudo sets both.  Its caller may be unknown here, or known by another group. */
static void choose_sudo(struct command_user *u, const char *uid, const char *gid)
{
	if (!user_id_parse(uid, &u->uid) || !gid || !user_id_parse(gid, &u->gid))
		die(0, "SUDO_UID=%s and SUDO_GID=%s do not tell as whom to run the command: "
		    "give -u USER", uid, gid ? gid : "");
	u->other = u->uid != 0;
	if (!u->other) {
		u->gid = getgid();
		return;
	}
	if (user_entry_find(&u->entry, uid))
		warning(0, "the command runs without supplementary groups: 'getent passwd %s' "
			"does not know the user who called sudo", uid);
	read_groups(&u->entry);
}

void command_user_choose(struct command_user *u, const char *name)
{
	const char *sudo = getenv("SUDO_UID");

	*u = (struct command_user){ .uid = getuid(), .gid = getgid() };
	if (name)
		choose_named(u, name);
	else if (sudo && !u->uid)	/* nobody else's environment counts */
		choose_sudo(u, sudo, getenv("SUDO_GID"));
	if (u->other && privilege_lacks(PRIVILEGE_SETUID))
		die(0, "not permitted to run the command as user %s: %s", name ?: u->entry.name ?: sudo,
		    privilege_missing(PRIVILEGE_SETUID));
}

/* As sudo and su do.  An unknown user must not have the caller's: it would write there. */
static bool set_environment(const struct user_entry *entry)
{
	if (!entry->name)
		return !setenv("HOME", "/", 1) && !unsetenv("USER") && !unsetenv("LOGNAME");
	return !setenv("HOME", *entry->home ? entry->home : "/", 1) &&
	       !setenv("USER", entry->name, 1) && !setenv("LOGNAME", entry->name, 1) &&
	       !setenv("SHELL", *entry->shell ? entry->shell : "/bin/sh", 1);
}

static bool set_groups(const struct command_user *u)
{
	size_t n = u->entry.ngroups + 1;	/* gid is the first, as initgroups(3) has it */
	gid_t *groups = xcalloc(n, sizeof(*groups));
	bool set;

	groups[0] = u->gid;
	if (n > 1)
		memcpy(groups + 1, u->entry.groups, (n - 1) * sizeof(*groups));
	set = !setgroups(n, groups);
	free(groups);
	return set;
}

/* Returns what could not be changed, with errno set; NULL if all is.  Whoever stays the same keeps the
 * caller's descriptors and capabilities: those of the tool's file do not outlive the next exec. */
static const char *change(const struct command_user *u)
{
	/* as sudo: what one user has open is not another's */
	if (u->other && syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, CLOSE_RANGE_CLOEXEC))
		return "descriptors";
	if (u->other && !set_environment(&u->entry))
		return "environment";
	if (u->other && !set_groups(u))
		return "groups";
	if (!confine_user(u->uid, u->gid))
		return "user and group";
	if (u->other && !confine_capabilities())
		return "capabilities";
	return NULL;
}

bool command_user_become(const struct command_user *u)
{
	const char *failed = change(u);

	if (failed)
		warning(errno, "the command is not run: cannot change to the %s of user %u", failed,
			u->uid);
	return !failed;
}

void command_user_free(struct command_user *u)
{
	user_entry_free(&u->entry);
}
