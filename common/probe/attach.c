/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "abi/bpf_names.h"
#include "abi/watch_event.h"
#include "base/die.h"
#include "base/failure.h"
#include "elf/elf.h"
#include "probe/attach.h"
#include "proc/privileges.h"

const char *attach_name(enum attach_kind kind)
{
	static const char *const names[] = { "auto", "session", "multi", "perf", "inject" };

	return names[kind];
}

static int load_program(int type, const struct bpf_insn *insns, size_t n)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = type);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", insns, n, &opts);

	return fd < 0 ? -errno : fd;
}

int attach_empty_program(int type)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load_program(type, insns, 2);
}

/* libbpf mistakes lockdown for an old kernel, and makes programs call a helper that they may not call
 * at all. */
bool attach_may_read(void)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = BPF_REG_1, .src_reg = BPF_REG_10 },
		{ .code = BPF_ALU64 | BPF_ADD | BPF_K, .dst_reg = BPF_REG_1, .imm = -8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_2, .imm = 8 },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3 },
		{ .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_probe_read_kernel },
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	int fd = load_program(0, insns, sizeof(insns) / sizeof(*insns));

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

int attach_try(enum attach_kind kind)
{
	int type = kind == ATTACH_SESSION ? TRACE_UPROBE_SESSION :
		   kind == ATTACH_MULTI ? TRACE_UPROBE_MULTI : 0;
	struct uprobe_multi u = { .type = type, .path = "/", .offsets = &(unsigned long long){ 0 }, .n = 1 };
	int prog, link;

	prog = attach_empty_program(type);
	if (prog < 0)
		return prog;
	u.prog = prog;
	if (kind == ATTACH_PERF) {
		close(prog);
		return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie,
					       NULL) == 1 ? 0 : -EOPNOTSUPP;
	}
	/* a directory cannot be probed: EBADF, unless the kind itself is unknown */
	link = uprobe_multi_link(&u);
	if (link >= 0 || errno != EBADF) {
		int err = link >= 0 || errno == EINVAL ? EOPNOTSUPP : errno;

		if (link >= 0)
			close(link);
		close(prog);
		return -err;
	}
	/* 6.6 to 6.9 took the pid for a thread ID; fixed kernels return EINVAL for a bad one */
	u.path = "/proc/self/exe";
	u.pid = -1;
	link = uprobe_multi_link(&u);
	if (link >= 0) {
		close(link);
		link = 0;
	} else {
		link = errno == ESRCH ? -EOPNOTSUPP : 0;
	}
	close(prog);
	return link;
}

void attach_refuse(enum attach_kind kind, struct failure *f)
{
	int err = attach_try(kind);

	if (err == -EPERM) {
		char *why = privilege_missing(PRIVILEGE_BPF);

		failure_set(f, EXIT_FAILURE, 0, "not permitted to trace: %s", why);
		free(why);
	} else if (err == -ENOSYS) {
		failure_set(f, EXIT_FAILURE, 0, "this kernel has no bpf(2) system call (CONFIG_BPF_SYSCALL is not set)");
	} else if (err && err != -EOPNOTSUPP) {
		failure_set(f, EXIT_FAILURE, err, "cannot probe for support");
	} else if (err && (kind == ATTACH_PERF || attach_try(ATTACH_PERF) == -EOPNOTSUPP)) {
		failure_set(f, EXIT_FAILURE, 0,
			    "this kernel has no BPF cookies for uprobes: Linux 5.15 or newer is required");
	} else if (err) {
		failure_set(f, EXIT_FAILURE, 0, "this kernel does not support it (Linux %s); omit the option",
			    kind == ATTACH_SESSION ? "6.13" : "6.6, with a working pid filter 6.10");
	} else if (!attach_may_read()) {
		failure_set(f, EXIT_FAILURE, 0,
			    "not permitted to trace: the kernel is locked down (lockdown=confidentiality, see "
			    "/sys/kernel/security/lockdown), so BPF programs cannot read arguments; boot with "
			    "lockdown=integrity or none");
	}
}

/* Links that hold many uprobes each (Linux 6.6 and later). */

enum { UPROBE_MULTI_RETURN = 1 };

/* bpf_attr.link_create.uprobe_multi, which libbpf may not know yet */
struct link_create {
	__u32 prog_fd, session_fd, attach_type, flags;
	__aligned_u64 path, offsets, ref_ctr_offsets, cookies;
	__u32 cnt, multi_flags, pid, pad;
};

int uprobe_multi_link(const struct uprobe_multi *u)
{
	struct link_create attr = {
		.prog_fd = u->prog, .attach_type = u->type, .path = (unsigned long)u->path,
		.offsets = (unsigned long)u->offsets, .ref_ctr_offsets = (unsigned long)u->semaphores,
		.cookies = (unsigned long)u->cookies, .cnt = u->n,
		.multi_flags = u->returns ? UPROBE_MULTI_RETURN : 0, .pid = u->pid,
	};

	return syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

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

static int link_counted(struct attachment *a, const struct uprobe_multi *u)
{
	int fd = take_link(a) ? uprobe_multi_link(u) : -1;

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

	want(obj, PROG_ENTER, kind != ATTACH_SESSION, type);
	want(obj, PROG_RETURN, kind != ATTACH_SESSION, type);
	want(obj, PROG_SESSION, kind == ATTACH_SESSION, TRACE_UPROBE_SESSION);
	want(obj, PROG_LAUNCH, true, kind == ATTACH_PERF ? 0 : TRACE_UPROBE_MULTI);
	want(obj, PROG_EMPTY, true, kind == ATTACH_PERF ? 0 : TRACE_UPROBE_MULTI);
}

/* The id, and of a USDT probe where its arguments are. */
static unsigned long long cookie_of(const struct elf_probe *p)
{
	return (unsigned long long)p->set << USDT_SET_SHIFT | (unsigned)p->id;
}

/* The programs to attach at a file's functions: returns first, because a call whose return is not armed yet would look
 * unfinished. */
struct program_set {
	const char *names[2];	/* the second at entries, the first at returns or NULL */
	int type;		/* of its links; 0: perf events */
	unsigned long long cookie;	/* of all of them, with the probe's */
};

static unsigned long long generation_cookie(const struct attacher *to)
{
	return (unsigned long long)to->generation << COOKIE_GENERATION_SHIFT;
}

static struct program_set programs_of(const struct attacher *to)
{
	const unsigned long long cookie = generation_cookie(to);
	const int multi = to->kind == ATTACH_MULTI ? TRACE_UPROBE_MULTI : 0;

	if (to->kind == ATTACH_SESSION)	/* one for both */
		return (struct program_set){ { NULL, PROG_SESSION }, TRACE_UPROBE_SESSION,
					     cookie };
	return (struct program_set){ { PROG_RETURN, PROG_ENTER }, multi, cookie };
}

static struct bpf_program *program_at(const struct bpf_object *obj, const struct program_set *set, int i)
{
	return set->names[i] ? bpf_object__find_program_by_name(obj, set->names[i]) : NULL;
}

/* Where they are attached. */
struct file_probes {
	const char *path;
	int pid;		/* 0: in every process */
	const struct elf_probe *probes;
	int n;
};

static int attach_perf(struct attachment *a, const struct bpf_object *obj, const struct program_set *set,
		       const struct file_probes *at)
{
	const struct elf_probe *probes = at->probes;
	const int n = at->n;

	a->links = xcalloc(2 * n, sizeof(*a->links));
	for (int i = 0; i < 2 * n; i++) {
		struct bpf_program *p = program_at(obj, set, i / n);
		LIBBPF_OPTS(bpf_uprobe_opts, opts,
			    .bpf_cookie = set->cookie | cookie_of(&probes[i % n]),
			    .ref_ctr_offset = probes[i % n].semaphore, .retprobe = i < n);

		if (!p || (i < n && !probes[i].returns))
			continue;
		a->links[a->nlinks] = perf_counted(a, p, at->pid ? at->pid : -1, at->path, probes[i % n].offset, &opts);
		if (!a->links[a->nlinks])
			return -errno;
		a->nlinks++;
	}
	return 0;
}

static int attach_multi(struct attachment *a, const struct bpf_object *obj, const struct program_set *set,
			const struct file_probes *at)
{
	const struct elf_probe *probes = at->probes;
	const int n = at->n;
	unsigned long long *offsets = xcalloc(n, 3 * sizeof(*offsets)), *cookies = offsets + n;
	unsigned long long *semaphores = cookies + n;
	int err = 0;

	for (int i = 0; !err && i < 2; i++) {
		struct bpf_program *p = program_at(obj, set, i);
		int count = 0;

		for (int j = 0; j < n; j++) {
			if (i == 0 && !probes[j].returns)
				continue;
			offsets[count] = probes[j].offset;
			semaphores[count] = probes[j].semaphore;
			cookies[count++] = set->cookie | cookie_of(&probes[j]);
		}
		if (!p || !count)
			continue;
		a->fds[i] = link_counted(a, &(struct uprobe_multi){
			.prog = bpf_program__fd(p), .type = set->type, .path = at->path, .pid = at->pid, .returns = i == 0,
			.offsets = offsets, .cookies = cookies, .semaphores = semaphores, .n = count,
		});
		if (a->fds[i] < 0)
			err = -errno;
	}
	free(offsets);
	return err;
}

static struct attachment *attach_set(struct attacher *to, const struct program_set *set, int fd, int pid,
				     const struct elf_probe *probes, int n)
{
	struct attachment *a = attachment_new(to);
	char path[32];
	const struct file_probes at = { path, pid, probes, n };
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = (set->type ? attach_multi : attach_perf)(a, to->obj, set, &at);
	if (!err)
		return a;
	attach_remove(a);
	errno = -err;
	return NULL;
}

struct attachment *attach_file(struct attacher *to, int fd, int pid, const struct elf_probe *probes,
			       int n)
{
	const struct program_set set = programs_of(to);

	return attach_set(to, &set, fd, pid, probes, n);
}

struct attachment *attach_entries(struct attacher *to, int fd, int pid, const struct elf_probe *probes, int n)
{
	const struct program_set set = { { NULL, PROG_LAUNCH },
					 to->kind == ATTACH_PERF ? 0 : TRACE_UPROBE_MULTI,
					 generation_cookie(to) };

	return attach_set(to, &set, fd, pid, probes, n);
}

void attach_prepare_one(struct bpf_program *prog, enum attach_kind kind)
{
	bpf_program__set_expected_attach_type(prog, kind == ATTACH_PERF ? 0 : TRACE_UPROBE_MULTI);
}

struct attachment *attach_one(struct attacher *to, struct bpf_program *prog, int fd, int pid,
			      unsigned long long offset)
{
	const unsigned long long cookie = pid || to->generation ? 0 : COOKIE_SHARED;
	LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = cookie);
	struct attachment *a = attachment_new(to);
	char path[32];
	int err;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (to->kind != ATTACH_PERF) {
		a->fds[0] = link_counted(a, &(struct uprobe_multi){
			.prog = bpf_program__fd(prog), .type = TRACE_UPROBE_MULTI, .path = path, .pid = pid,
			.offsets = &offset, .cookies = &cookie, .n = 1,
		});
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
