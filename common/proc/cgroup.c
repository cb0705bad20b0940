/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <fts.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>
#include "proc/cgroup.h"
#include "proc/living.h"

/* The container, pod and Slurm job of a process, by the names of its cgroups.
 * Cgroup names are chosen by whoever creates them: treat them as untrusted. */

/* The kernel gives a line no more than a page, and has a dozen hierarchies of version 1. */
enum { TEXT_MAX = 65536 };

/* The part of a path between two separators. */
struct part { const char *at; size_t len; };

/* A path, from the root on. */
struct walk {
	bool kubepods, slurm;	/* is below one of these */
	struct cgroup_names in;
};

static bool is(struct part p, const char *text)
{
	return p.len == strlen(text) && !memcmp(p.at, text, p.len);
}

static bool begins(struct part p, const char *text)
{
	return p.len >= strlen(text) && !memcmp(p.at, text, strlen(text));
}

static bool ends(struct part p, const char *text)
{
	size_t n = strlen(text);

	return p.len >= n && !memcmp(p.at + p.len - n, text, n);
}

static bool drop_end(struct part *p, const char *text)
{
	bool has = ends(*p, text);

	if (has)
		p->len -= strlen(text);
	return has;
}

static bool is_hex(char c)
{
	return isdigit((unsigned char)c) || (c >= 'a' && c <= 'f');
}

static size_t hex_digits(struct part p)
{
	size_t n = 0;

	while (n < p.len && is_hex(p.at[n]))
		n++;
	return n;
}

/* docker-ID.scope, cri-containerd-ID.scope, crio-ID, libpod-ID.scope or ID; a container's monitor, as in
 * libpod-conmon-ID.scope, is not in it. */
static void see_container(struct walk *w, struct part p)
{
	const size_t digits = CGROUP_CONTAINER - 1;
	struct part before = p, id;

	drop_end(&p, ".scope");
	if (p.len < digits)
		return;
	before.len = p.len - digits;
	id = (struct part){ p.at + before.len, digits };
	if (hex_digits(id) == digits && (!before.len || ends(before, "-")) && !ends(before, "conmon-"))
		snprintf(w->in.container, sizeof(w->in.container), "%.*s", (int)digits, id.at);
}

/* Takes a pod's uid; the uid of a static pod is a hash: 32 digits. */
static void see_uid(struct walk *w, struct part uid)
{
	char pod[CGROUP_POD] = "";

	if (uid.len != CGROUP_POD - 1 && (uid.len != 32 || hex_digits(uid) != 32))
		return;
	for (size_t i = 0; i < uid.len; i++) {
		bool dash = uid.len == CGROUP_POD - 1 && (i == 8 || i == 13 || i == 18 || i == 23);

		if (dash ? uid.at[i] != '-' && uid.at[i] != '_' : !is_hex(uid.at[i]))
			return;
		pod[i] = dash ? '-' : uid.at[i];
	}
	memcpy(w->in.pod, pod, sizeof(pod));
}

/* kubepods-besteffort-podUID.slice with '_' in UID, or podUID below kubepods. */
static void see_pod(struct walk *w, struct part p)
{
	const char *pod = NULL;

	if (drop_end(&p, ".slice")) {
		bool ours = begins(p, "kubepods-") || memmem(p.at, p.len, "-kubepods-", 10);

		pod = ours ? memmem(p.at, p.len, "-pod", 4) : NULL;
		if (pod)
			see_uid(w, (struct part){ pod + 4, p.at + p.len - (pod + 4) });
	} else if (w->kubepods && begins(p, "pod")) {
		see_uid(w, (struct part){ p.at + 3, p.len - 3 });
	}
}

/* slurm/uid_0/job_N, or slurmstepd.scope/job_N; the former two may have a node's name in them. */
static void see_job(struct walk *w, struct part p)
{
	size_t n = 0;

	if (!w->slurm || !begins(p, "job_"))
		return;
	p = (struct part){ p.at + 4, p.len - 4 };
	while (n < p.len && isdigit((unsigned char)p.at[n]))
		n++;
	if (n && n == p.len && n < sizeof(w->in.job))
		snprintf(w->in.job, sizeof(w->in.job), "%.*s", (int)n, p.at);
}

static void see(struct walk *w, struct part p)
{
	see_container(w, p);
	see_pod(w, p);
	see_job(w, p);
	/* ..: what is above the cgroup namespace that we are in is not shown, and may be either */
	w->kubepods = w->kubepods || is(p, "kubepods") || is(p, "..");
	w->slurm = w->slurm || is(p, "..") || is(p, "slurm") || begins(p, "slurm_") || ends(p, "slurmstepd.scope");
}

/* With the wrong cgroup driver, containerd's CRI writes both names as one: kubepods-podUID.slice:cri-containerd:ID */
static void walk_path(struct walk *w, struct part path)
{
	drop_end(&path, " (deleted)");
	while (path.len) {
		size_t n = 0;

		while (n < path.len && path.at[n] != '/' && path.at[n] != ':')
			n++;
		see(w, (struct part){ path.at, n });
		n += n < path.len;
		path = (struct part){ path.at + n, path.len - n };
	}
}

static void keep_first(char *kept, const char *found, size_t size)
{
	if (!*kept)
		memcpy(kept, found, size);
}

/* "4:memory:/path" */
static void parse_line(struct part line, struct cgroup_names *names)
{
	struct walk w = { 0 };
	const char *path = memchr(line.at, ':', line.len);

	path = path ? memchr(path + 1, ':', line.at + line.len - (path + 1)) : NULL;
	if (!path)
		return;
	walk_path(&w, (struct part){ path + 1, line.at + line.len - (path + 1) });
	keep_first(names->container, w.in.container, sizeof(w.in.container));
	keep_first(names->pod, w.in.pod, sizeof(w.in.pod));
	keep_first(names->job, w.in.job, sizeof(w.in.job));
}

void cgroup_names_parse(const char *text, struct cgroup_names *names)
{
	*names = (struct cgroup_names){ 0 };
	while (*text) {
		size_t n = strcspn(text, "\n");

		parse_line((struct part){ text, n }, names);
		text += n + (text[n] == '\n');
	}
}

bool cgroup_names(int pid, struct cgroup_names *names)
{
	char name[32], text[TEXT_MAX];
	size_t size = 0;
	ssize_t n = 0;
	int fd;

	*names = (struct cgroup_names){ 0 };
	snprintf(name, sizeof(name), "/proc/%d/cgroup", proc_living(pid));
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (size < sizeof(text) - 1 && (n = read(fd, text + size, sizeof(text) - 1 - size)) > 0)
		size += n;
	close(fd);
	text[size] = '\0';
	cgroup_names_parse(text, names);
	return n >= 0;
}

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

/* Search key in the tree: a name that has the text, or an id. */
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

	snprintf(name, sizeof(name), "/proc/%d/cgroup", proc_living(pid));
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
