/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include "proc/cgroup_name.h"

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

/* Where containerd's CRI was told the wrong kind of names, they are one: kubepods-podUID.slice:cri-containerd:ID */
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
	snprintf(name, sizeof(name), "/proc/%d/cgroup", pid);
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
