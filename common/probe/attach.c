/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "abi/watch_event.h"
#include "base/die.h"
#include "elf/elf.h"
#include "probe/attach.h"
#include "probe/uprobe_multi.h"

/* Limit on links at a time.  With -c, each process has a few for each file; with perf events, one
 * for each function.  The kernel takes tens of milliseconds to close one. */
#ifndef ATTACH_MAX
#define ATTACH_MAX 65536
#endif

struct attachment {
	int *count, *live;	/* of all links of the attacher */
	int fds[2];		/* session and multi */
	struct bpf_link **links;	/* perf */
	int nlinks;
};

static struct attachment *attachment_new(struct attacher *to)
{
	struct attachment *a = xcalloc(1, sizeof(*a));

	a->count = &to->nlinks;
	a->live = to->live;
	a->fds[0] = a->fds[1] = -1;
	return a;
}

static void count(struct attachment *a, int n)
{
	*a->count += n;
	if (a->live)
		__atomic_fetch_add(a->live, n, __ATOMIC_RELAXED);
}

/* Return true if there is room for one more link. */
static bool take_link(struct attachment *a)
{
	if (*a->count == ATTACH_MAX) {
		errno = ATTACH_TOO_MANY;
		return false;
	}
	count(a, 1);
	return true;
}

static void give_link(struct attachment *a)
{
	count(a, -1);
}

static int link_counted(struct attachment *a, int prog, int type, const char *path,
			const unsigned long long *offsets, const unsigned long long *cookies,
			const unsigned long long *semaphores, int n, int pid, bool ret)
{
	int fd = take_link(a) ? uprobe_multi_link(prog, type, path, offsets, cookies, semaphores, n, pid, ret) : -1;

	if (fd < 0 && errno != ATTACH_TOO_MANY)
		give_link(a);
	return fd;
}

static struct bpf_link *perf_counted(struct attachment *a, struct bpf_program *p, int pid,
				     const char *path, unsigned long long offset,
				     const struct bpf_uprobe_opts *opts)
{
	struct bpf_link *link;

	if (!take_link(a))
		return NULL;
	link = bpf_program__attach_uprobe_opts(p, pid, path, offset, opts);
	if (!link)
		give_link(a);
	return link;
}

int *attach_programs(const struct attacher *to)
{
	const struct bpf_object *all[] = { to->obj, to->other };
	struct bpf_program *p;
	int *fds = xcalloc(1, sizeof(*fds)), n = 0;

	for (int i = 0; i < 2; i++) {
		if (!all[i])
			continue;
		bpf_object__for_each_program(p, all[i])
			if (bpf_program__fd(p) >= 0) {
				fds = xrealloc(fds, n + 2, sizeof(*fds));
				fds[n++] = bpf_program__fd(p);
			}
	}
	fds[n] = -1;
	return fds;
}

static void want(struct bpf_object *obj, const char *name, bool load, int type)
{
	struct bpf_program *p = bpf_object__find_program_by_name(obj, name);

	if (!p)
		return;
	bpf_program__set_autoload(p, load);
	bpf_program__set_expected_attach_type(p, type);
}

void attach_prepare(struct bpf_object *obj, enum attach_kind kind)
{
	int type = kind == ATTACH_MULTI ? TRACE_UPROBE_MULTI : 0;

	want(obj, "cuda_enter", kind != ATTACH_SESSION, type);
	want(obj, "cuda_return", kind != ATTACH_SESSION, type);
	want(obj, "cuda_session", kind == ATTACH_SESSION, TRACE_UPROBE_SESSION);
}

/* The id, and of a USDT probe where its arguments are. */
static unsigned long long cookie_of(const struct elf_probe *p)
{
	return (unsigned long long)p->set << USDT_SET_SHIFT | (unsigned)p->id;
}

static int attach_perf(struct attachment *a, struct bpf_object *obj, const char *path, int pid,
		       const struct elf_probe *probes, int n)
{
	static const char *const names[] = { "cuda_return", "cuda_enter" };

	a->links = xcalloc(2 * n, sizeof(*a->links));
	/* returns first: a call whose return is not armed yet would look unfinished */
	for (int i = 0; i < 2 * n; i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(obj, names[i / n]);
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = cookie_of(&probes[i % n]),
			    .ref_ctr_offset = probes[i % n].semaphore, .retprobe = i < n);

		if (!p || (i < n && !probes[i].returns))
			continue;
		a->links[a->nlinks] = perf_counted(a, p, pid ? pid : -1, path, probes[i % n].offset,
						   &opts);
		if (!a->links[a->nlinks])
			return -errno;
		a->nlinks++;
	}
	return 0;
}

static int attach_multi(struct attachment *a, struct bpf_object *obj, enum attach_kind kind,
			const char *path, int pid, const struct elf_probe *probes, int n)
{
	static const char *const names[] = { "cuda_return", "cuda_enter", "cuda_session" };
	bool session = kind == ATTACH_SESSION;
	int type = session ? TRACE_UPROBE_SESSION : TRACE_UPROBE_MULTI;
	unsigned long long *offsets = xcalloc(n, 3 * sizeof(*offsets)), *cookies = offsets + n;
	unsigned long long *semaphores = cookies + n;
	int err = 0;

	for (int i = session ? 2 : 0; !err && i < (session ? 3 : 2); i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(obj, names[i]);
		int count = 0;

		for (int j = 0; j < n; j++) {
			if (i == 0 && !probes[j].returns)
				continue;
			offsets[count] = probes[j].offset;
			semaphores[count] = probes[j].semaphore;
			cookies[count++] = cookie_of(&probes[j]);
		}
		if (!p || !count)
			continue;
		a->fds[i % 2] = link_counted(a, bpf_program__fd(p), type, path, offsets, cookies,
					     semaphores, count, pid, i == 0);
		if (a->fds[i % 2] < 0)
			err = -errno;
	}
	free(offsets);
	return err;
}

struct attachment *attach_file(struct attacher *to, int fd, int pid, const struct elf_probe *probes,
			       int n)
{
	struct attachment *a = attachment_new(to);
	char path[32];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = to->kind == ATTACH_PERF ? attach_perf(a, to->obj, path, pid, probes, n) :
					attach_multi(a, to->obj, to->kind, path, pid, probes, n);
	if (!err)
		return a;
	attach_remove(a);
	errno = -err;
	return NULL;
}

void attach_prepare_one(struct bpf_program *prog, enum attach_kind kind)
{
	bpf_program__set_expected_attach_type(prog, kind == ATTACH_PERF ? 0 : TRACE_UPROBE_MULTI);
}

struct attachment *attach_one(struct attacher *to, struct bpf_program *prog, int fd, int pid,
			      unsigned long long offset)
{
	const unsigned long long cookie = pid ? 0 : COOKIE_SHARED;
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = cookie);
	struct attachment *a = attachment_new(to);
	char path[32];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (to->kind != ATTACH_PERF) {
		a->fds[0] = link_counted(a, bpf_program__fd(prog), TRACE_UPROBE_MULTI, path, &offset,
					 &cookie, NULL, 1, pid, false);
		if (a->fds[0] >= 0)
			return a;
	} else {
		a->links = xcalloc(1, sizeof(*a->links));
		a->links[0] = perf_counted(a, prog, pid ? pid : -1, path, offset, &opts);
		a->nlinks = a->links[0] != NULL;
		if (a->nlinks)
			return a;
	}
	err = errno;
	attach_remove(a);
	errno = err;
	return NULL;
}

void attach_remove(struct attachment *a)
{
	/* entries first, so that the returns of calls in progress are still seen */
	for (int i = 1; i >= 0; i--)
		if (a->fds[i] >= 0) {
			close(a->fds[i]);
			give_link(a);
		}
	while (a->nlinks) {
		bpf_link__destroy(a->links[--a->nlinks]);
		give_link(a);
	}
	free(a->links);
	free(a);
}
