/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "bt_files.h"
#include "die.h"

bool bt_files_add(struct bt_files *f, struct code *c, int pid)
{
	for (int i = 0; i < f->n; i++)
		if (f->codes[i] == c) {
			f->pids[i] = f->pids[i] ? f->pids[i] : pid;
			return false;
		}
	f->codes = xrealloc(f->codes, f->n + 1, sizeof(*f->codes));
	f->pids = xrealloc(f->pids, f->n + 1, sizeof(*f->pids));
	f->codes[f->n] = c;
	f->pids[f->n++] = pid;
	return true;
}

/* Can the path stand in a script, and does it mean itself there?  bpftrace splits at colons, also
 * within quotes. */
static bool can_be_written(const char *path)
{
	for (; *path; path++)
		if (*path < ' ' || *path > '~' || strchr("\":\\*?[]", *path))
			return false;
	return true;
}

static bool names(const char *path, int fd)
{
	struct stat named, file;

	return can_be_written(path) && !stat(path, &named) && !fstat(fd, &file) &&
	       named.st_dev == file.st_dev && named.st_ino == file.st_ino;
}

/* NULL if there is no name that stays good */
static char *name_of(const struct code *c, int pid, bool to_stay)
{
	char *path;

	if (names(c->path, code_fd(c)))
		return xstrdup(c->path);
	if (!to_stay)
		return xprintf("/proc/%d/fd/%d", getpid(), code_fd(c));
	path = xprintf("/proc/%d/root%s", pid, c->path);
	if (pid && names(path, code_fd(c)))
		return path;
	free(path);
	warning(0, "%s is left out: a script cannot name it", c->path);
	return NULL;
}

struct bt_file *bt_files_named(const struct bt_files *f, bool to_stay, int *n)
{
	struct bt_file *files = xcalloc(f->n + 1, sizeof(*files)), *to = files;

	for (int i = 0; i < f->n; i++) {
		const struct elf_scan *scan = &f->codes[i]->scan;
		int *ids = xcalloc(scan->n, sizeof(*ids));

		for (int k = 0; k < scan->n; k++)
			ids[k] = scan->probes[k].id;
		to->path = name_of(f->codes[i], f->pids[i], to_stay);
		to->ids = ids;
		to->n = scan->n;
		to += to->path != NULL;
	}
	*n = to - files;
	return files;
}
