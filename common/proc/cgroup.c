/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <fts.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include "proc/cgroup.h"
#include "proc/cgroup_name.h"

enum { CONTAINER_MIN = 8 };	/* digits of a container's id */

static const char no_cgroups[] = "no cgroups of version 2 are mounted at /sys/fs/cgroup or /sys/fs/cgroup/unified";

const char *cgroup_mount(void)
{
	static const char *const places[] = { "/sys/fs/cgroup", "/sys/fs/cgroup/unified" };
	struct statfs fs;

	for (int i = 0; i < 2; i++)
		if (!statfs(places[i], &fs) && fs.f_type == CGROUP2_SUPER_MAGIC)
			return places[i];
	return NULL;
}

/* Returns why no cgroup can be found, or NULL and sets *top.  In a cgroup namespace the depth of a cgroup, which is
 * counted from the root, is not known; the root's number is 1 (include/linux/kernfs.h). */
static const char *find_top(const char **top)
{
	struct stat st;

	*top = cgroup_mount();
	if (!*top)
		return no_cgroups;
	return stat(*top, &st) || st.st_ino == 1 ? NULL :
	       "this is a cgroup namespace: run the tool in the host's (docker run --cgroupns=host)";
}

/* What to look for in the tree: a name that has the text, or an id. */
struct wanted { const char *text; unsigned long long id; };

static bool is_wanted(const FTSENT *e, const struct wanted *w)
{
	return w->text ? e->fts_level > 0 && strstr(e->fts_name, w->text) : e->fts_statp->st_ino == w->id;
}

/* Returns how many there are, not counting those inside another one, and sets *cgroup to the last. */
static int search(const char *top, const struct wanted *w, struct cgroup *cgroup)
{
	char *tops[] = { (char *)top, NULL };
	FTS *tree = fts_open(tops, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
	FTSENT *e;
	int n = 0;

	while (tree && (e = fts_read(tree))) {
		if (e->fts_info != FTS_D || !is_wanted(e, w))
			continue;
		*cgroup = (struct cgroup){ e->fts_statp->st_ino, e->fts_level };
		n++;
		fts_set(tree, e, FTS_SKIP);
	}
	if (tree)
		fts_close(tree);
	return n;
}

static unsigned int depth(const char *path)
{
	unsigned int n = 0;

	for (; *path; path++)
		n += *path != '/' && (path[1] == '/' || !path[1]);
	return n;
}

static const char *find_path(const char *top, const char *name, struct cgroup *cgroup)
{
	size_t len = strlen(top);
	const char *below = !strncmp(name, top, len) && (!name[len] || name[len] == '/') ? name + len : name;
	struct stat st;
	char *path;
	bool ok;

	if (strstr(below, ".."))
		return "'..' is not allowed";
	if (asprintf(&path, "%s/%s", top, below) < 0)
		return "out of memory";
	ok = !stat(path, &st) && S_ISDIR(st.st_mode);
	free(path);
	*cgroup = (struct cgroup){ st.st_ino, depth(below) };
	return ok ? NULL : "there is no such cgroup";
}

const char *cgroup_find(const char *name, struct cgroup *cgroup)
{
	struct wanted w = { .id = strtoull(name, NULL, 10) };
	const char *top, *why = find_top(&top);

	if (why)
		return why;
	if (name[strspn(name, "0123456789")])
		return find_path(top, name, cgroup);
	return search(top, &w, cgroup) ? NULL : "no cgroup has this id";
}

const char *cgroup_of_container(const char *id, struct cgroup *cgroup)
{
	struct wanted w = { .text = id };
	const char *top, *why = find_top(&top);
	int n;

	if (why)
		return why;
	if (strlen(id) < CONTAINER_MIN || id[strspn(id, "0123456789abcdef")])
		return "not a container ID (8 to 64 hexadecimal digits, as docker ps prints)";
	n = search(top, &w, cgroup);
	return n == 1 ? NULL : n ? "several cgroups have it in their name: give more digits" : "no cgroup has it in its name";
}

/* Returns the directory of the process's cgroup, which the caller frees; NULL if it is gone. */
static char *directory_of(int pid)
{
	const char *top = cgroup_mount();
	char name[32], *line = NULL, *path = NULL;
	size_t size = 0;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
	f = top ? fopen(name, "re") : NULL;
	while (f && !path && getline(&line, &size, f) > 0)
		if (!strncmp(line, "0::/", 4) && asprintf(&path, "%s%.*s", top, (int)strcspn(line + 3, "\n"), line + 3) < 0)
			path = NULL;
	if (f)
		fclose(f);
	free(line);
	return path;
}

bool cgroup_has(unsigned long long id, int pid)
{
	char *path = directory_of(pid);
	size_t n = path ? strlen(path) : 0, top = path ? strlen(cgroup_mount()) : 1;
	bool found = false;
	struct stat st;

	while (n >= top && !found) {
		path[n] = '\0';
		found = !stat(path, &st) && st.st_ino == id;
		while (path[--n] != '/')
			;
	}
	free(path);
	return found;
}

bool cgroup_container(int pid, char id[CONTAINER_ID])
{
	struct cgroup_names in;

	if (!cgroup_names(pid, &in) || !*in.container)
		return false;
	snprintf(id, CONTAINER_ID, "%.*s", CONTAINER_ID - 1, in.container);
	return true;
}
