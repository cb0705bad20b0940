/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "cudabt/bt_files.h"
#include "cudabt/bt_standin.h"
#include "cudabt/path_uid.h"
#include "base/die.h"

bool bt_files_add(struct bt_files *f, struct dso *c, int pid)
{
	for (int i = 0; i < f->n; i++)
		if (f->dsos[i] == c) {
			f->pids[i] = f->pids[i] ? f->pids[i] : pid;
			return false;
		}
	f->dsos = xrealloc(f->dsos, f->n + 1, sizeof(*f->dsos));
	f->pids = xrealloc(f->pids, f->n + 1, sizeof(*f->pids));
	f->dsos[f->n] = c;
	f->pids[f->n++] = pid;
	return true;
}

/* Return true if the path can be written in a script and is taken literally there.  bpftrace splits
 * at colons even within quotes. */
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

/* The path goes through root/ because newer versions of bpftrace resolve the links of other names
 * first, and a file in memory has no name. */
static char *stand_in(const struct dso *c, int *fd)
{
	*fd = bt_standin_new(&c->scan);
	return xprintf("/proc/%d/root/proc/%d/fd/%d", getpid(), getpid(), *fd);
}

/* Returns NULL if there is none. */
static char *name_to_stay(const struct dso *c, int pid)
{
	char *path;
	uid_t uid;

	if (names(c->path, dso_fd(c))) {
		if (path_uid(c->path, &uid))
			warning(0, "user %u can replace %s: as root, run the script only if you trust that user "
				   "(cudabt without --emit is safe)", uid, c->path);
		return xstrdup(c->path);
	}
	path = xprintf("/proc/%d/root%s", pid, c->path);
	if (pid && names(path, dso_fd(c))) {
		warning(0, "%s may become another file when process %d exits, or be replaced by that "
			   "process: as root, run the script only if you trust it", path, pid);
		return path;
	}
	free(path);
	warning(0, "skipping %s: a script cannot name it", c->path);
	return NULL;
}

static int *ids_of(const struct elf_scan *scan)
{
	int *ids = xcalloc(scan->n, sizeof(*ids));

	for (int i = 0; i < scan->n; i++)
		ids[i] = scan->probes[i].id;
	return ids;
}

struct bt_file *bt_files_named(const struct bt_files *f, bool to_stay, int *n)
{
	struct bt_file *files = xcalloc(f->n + 1, sizeof(*files));

	*n = 0;
	for (int i = 0; i < f->n; i++) {
		const struct dso *c = f->dsos[i];
		int fd = -1;
		char *path = to_stay ? name_to_stay(c, f->pids[i]) : stand_in(c, &fd);

		if (path)
			files[(*n)++] = (struct bt_file){ path, ids_of(&c->scan), c->scan.n, fd };
	}
	return files;
}

void bt_files_named_free(struct bt_file *files, int n)
{
	for (int i = 0; i < n; i++) {
		free((char *)files[i].path);
		free((int *)files[i].ids);
		if (files[i].fd >= 0)
			close(files[i].fd);
	}
	free(files);
}

void bt_files_free(struct bt_files *f)
{
	free(f->dsos);
	free(f->pids);
}
