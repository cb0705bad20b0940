/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>
#include "base/die.h"
#include "cli/out_file.h"

enum { LINKS = 40 };		/* as in the kernel */

struct walk {
	const char *path;	/* for messages */
	char rest[PATH_MAX];	/* what is still to be walked */
	char name[NAME_MAX + 1];	/* the last step, in the directory */
	int dir;
	int links;
};

/* The user who called sudo may do all that the tool may. */
static bool called_sudo(uid_t uid)
{
	const char *text = geteuid() ? NULL : getenv("SUDO_UID");
	char *end;

	return text && *text && strtoul(text, &end, 10) == uid && !*end;
}

static bool trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid() || called_sudo(uid);
}

static void inspect(const struct walk *w, int fd, struct stat *st)
{
	if (fstat(fd, st))
		die(errno, "cannot inspect %s", w->path);
}

/* Removes the first name of the rest; false if that was the last. */
static bool next_name(struct walk *w)
{
	size_t start = strspn(w->rest, "/"), n = strcspn(w->rest + start, "/"), end = start + n;

	if (n > NAME_MAX)
		die(ENAMETOOLONG, "cannot open %s", w->path);
	memcpy(w->name, n ? w->rest + start : ".", n ? n : 1);
	w->name[n ? n : 1] = 0;
	memmove(w->rest, w->rest + end, strlen(w->rest + end) + 1);
	return *w->rest;
}

static void go_to(struct walk *w, int dir)
{
	if (dir < 0)
		die(errno, "cannot open %s", w->path);
	close(w->dir);
	w->dir = dir;
}

/* A procfs magic link (fd, cwd, root): its target is not a path. */
static bool is_magic(int fd)
{
	struct statfs fs;

	return !fstatfs(fd, &fs) && fs.f_type == PROC_SUPER_MAGIC;
}

/* Puts the target of a link before the rest; takes over the link. */
static void follow(struct walk *w, int link)
{
	char to[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlinkat(link, "", to, sizeof(to) - 1);
	struct stat st;

	inspect(w, link, &st);
	if (!trusted(st.st_uid))
		die(0, "cannot open %s: %s is a symbolic link of user %u (write to a directory of your own)",
		    w->path, w->name, st.st_uid);
	close(link);
	if (n < 0 || ++w->links > LINKS)
		die(n < 0 ? errno : ELOOP, "cannot open %s", w->path);
	to[n] = 0;
	if ((size_t)snprintf(rest, sizeof(rest), "%s%s", to, w->rest) >= sizeof(rest))
		die(ENAMETOOLONG, "cannot open %s", w->path);
	memcpy(w->rest, rest, sizeof(rest));
	if (*to == '/')
		go_to(w, open("/", O_PATH | O_CLOEXEC));
}

/* Returns what the path leads to, to be opened; -1 if there is nothing of that name in w->dir. */
static int walk(struct walk *w)
{
	for (;;) {
		bool more = next_name(w);
		int fd = openat(w->dir, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
		struct stat st;

		if (fd < 0 && (errno != ENOENT || more))
			die(errno, "cannot open %s", w->path);
		if (fd < 0)
			return -1;
		inspect(w, fd, &st);
		if (S_ISLNK(st.st_mode) && !is_magic(fd)) {
			follow(w, fd);
			continue;
		}
		if (S_ISLNK(st.st_mode)) {
			close(fd);
			fd = openat(w->dir, w->name, O_PATH | O_CLOEXEC);
			if (fd < 0)
				die(errno, "cannot open %s", w->path);
		}
		if (!more)
			return fd;
		go_to(w, fd);
	}
}

/* In a directory that only root and the caller can write to, no other user has put it there. */
static void check(const struct walk *w, int fd)
{
	struct stat dir, st;

	inspect(w, w->dir, &dir);
	if (trusted(dir.st_uid) && !(dir.st_mode & 022))
		return;
	inspect(w, fd, &st);
	if (!trusted(st.st_uid))
		die(0, "refusing to write to %s: user %u owns the file, and others can write to its "
		    "directory (remove the file or name another one)", w->path, st.st_uid);
	if (S_ISREG(st.st_mode) && st.st_nlink > 1)
		die(0, "refusing to write to %s: the file has other hard links, and others can write to its "
		    "directory (remove the file or name another one)", w->path);
}

static int reopen(int fd)
{
	char name[32];

	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	return open(name, O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC);
}

int out_file_open(const char *path)
{
	struct walk w = { .path = path, .dir = open(*path == '/' ? "/" : ".", O_PATH | O_CLOEXEC) };
	int found, fd;

	if (!*path || (size_t)snprintf(w.rest, sizeof(w.rest), "%s", path) >= sizeof(w.rest))
		die(*path ? ENAMETOOLONG : ENOENT, "cannot open %s", path);
	found = walk(&w);
	if (found >= 0)
		check(&w, found);
	fd = found >= 0 ? reopen(found) : openat(w.dir, w.name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		die(errno, "cannot open %s", path);
	if (found >= 0)
		close(found);
	close(w.dir);
	return fd;
}

FILE *out_file_stream(const char *path)
{
	FILE *f = fdopen(out_file_open(path), "w");

	if (!f)
		die(errno, "cannot open %s", path);
	return f;
}

bool out_file_close(FILE *f, const char *path)
{
	bool failed = ferror(f);

	if (!fclose(f) && !failed)
		return true;
	warning(errno, "cannot write to %s", path);
	return false;
}

/* Removes what the path leads to, if that is a regular file, and the one that was written. */
static void remove_file(const char *path, const struct stat *written)
{
	struct walk w = { .path = path, .dir = open(*path == '/' ? "/" : ".", O_PATH | O_CLOEXEC) };
	struct stat st;
	int fd;

	snprintf(w.rest, sizeof(w.rest), "%s", path);
	fd = walk(&w);
	if (fd < 0)
		return;
	inspect(&w, fd, &st);
	if (S_ISREG(st.st_mode) && st.st_dev == written->st_dev && st.st_ino == written->st_ino &&
	    unlinkat(w.dir, w.name, 0))
		warning(errno, "cannot remove %s, which is incomplete", path);
	close(fd);
	close(w.dir);
}

bool out_file_close_or_remove(FILE *f, const char *path)
{
	bool known, ok;
	struct stat st;

	known = !fstat(fileno(f), &st);
	ok = out_file_close(f, path);
	if (!ok && known)
		remove_file(path, &st);
	return ok;
}
