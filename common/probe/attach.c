/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "probe/attach.h"
#include "base/die.h"
#include "elf/elf.h"
#include "proc/privileges.h"

/* enum bpf_attach_type and bpf_attr.link_create.uprobe_multi of Linux 6.6 and 6.13
 * (include/uapi/linux/bpf.h), which may be newer than the headers and libbpf at hand. */
enum { TRACE_UPROBE_MULTI = 48, TRACE_UPROBE_SESSION = 57, UPROBE_MULTI_RETURN = 1 };

struct link_create {
	__u32 prog_fd, target_fd, attach_type, flags;
	__aligned_u64 path, offsets, ref_ctr_offsets, cookies;
	__u32 cnt, multi_flags, pid, pad;
};

/* Of links at a time; a process of -c has some for each file.  The kernel takes tens of milliseconds
 * to close one, and a perf event is one for each function. */
#ifndef ATTACH_MAX
#define ATTACH_MAX 65536
#endif

static int nlinks;	/* holders are threads */

struct attachment {
	int fds[2];		/* session and multi */
	struct bpf_link **links;	/* perf */
	int nlinks;
};

/* Room for one more? */
static bool take_link(void)
{
	if (__atomic_add_fetch(&nlinks, 1, __ATOMIC_RELAXED) <= ATTACH_MAX)
		return true;
	__atomic_sub_fetch(&nlinks, 1, __ATOMIC_RELAXED);
	errno = ATTACH_TOO_MANY;
	return false;
}

static void give_link(void)
{
	__atomic_sub_fetch(&nlinks, 1, __ATOMIC_RELAXED);
}

static int link_multi(int prog, int type, const char *path, const __u64 *offsets,
		      const __u64 *cookies, int n, int pid, bool ret)
{
	struct link_create attr = {
		.prog_fd = prog, .attach_type = type, .path = (unsigned long)path,
		.offsets = (unsigned long)offsets, .cookies = (unsigned long)cookies, .cnt = n,
		.multi_flags = ret ? UPROBE_MULTI_RETURN : 0, .pid = pid,
	};

	return syscall(__NR_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));
}

static int link_counted(int prog, int type, const char *path, const __u64 *offsets,
			const __u64 *cookies, int n, int pid, bool ret)
{
	int fd = take_link() ? link_multi(prog, type, path, offsets, cookies, n, pid, ret) : -1;

	if (fd < 0 && errno != ATTACH_TOO_MANY)
		give_link();
	return fd;
}

static struct bpf_link *perf_counted(struct bpf_program *p, int pid, const char *path,
				     unsigned long long offset, const struct bpf_uprobe_opts *opts)
{
	struct bpf_link *link;

	if (!take_link())
		return NULL;
	link = bpf_program__attach_uprobe_opts(p, pid, path, offset, opts);
	if (!link)
		give_link();
	return link;
}

const char *attach_name(enum attach_kind kind)
{
	static const char *const names[] = { "auto", "session", "multi", "perf" };

	return names[kind];
}

static int load_program(int type, const struct bpf_insn *insns, size_t n)
{
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = type);
	int fd = bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", insns, n, &opts);

	return fd < 0 ? -errno : fd;
}

/* An empty program of the kind, or -errno. */
static int empty_program(int type)
{
	const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};

	return load_program(type, insns, 2);
}

/* May programs read the kernel's memory?  Lockdown forbids it, if it is for confidentiality; and
 * libbpf takes that for an old kernel, and has programs call what they may not call at all. */
static bool may_read(void)
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

/* 0 if the kernel has this kind, else the reason. */
static int try_kind(enum attach_kind kind)
{
	int type = kind == ATTACH_SESSION ? TRACE_UPROBE_SESSION :
		   kind == ATTACH_MULTI ? TRACE_UPROBE_MULTI : 0;
	__u64 offset = 0;
	int prog, link;

	prog = empty_program(type);
	if (prog < 0)
		return prog;
	if (kind == ATTACH_PERF) {
		close(prog);
		return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie,
					       NULL) == 1 ? 0 : -EOPNOTSUPP;
	}
	/* a directory is no file to probe: EBADF, unless the kind itself is unknown */
	link = link_multi(prog, type, "/", &offset, NULL, 1, 0, false);
	if (link >= 0 || errno != EBADF) {
		int err = link >= 0 || errno == EINVAL ? EOPNOTSUPP : errno;

		if (link >= 0)
			close(link);
		close(prog);
		return -err;
	}
	/* 6.6 to 6.9 took the pid for a thread's; where that is mended a bad one is EINVAL */
	link = link_multi(prog, type, "/proc/self/exe", &offset, NULL, 1, -1, false);
	if (link >= 0) {
		close(link);
		link = 0;
	} else {
		link = errno == ESRCH ? -EOPNOTSUPP : 0;
	}
	close(prog);
	return link;
}

static _Noreturn void no_kind(enum attach_kind kind, int err)
{
	if (err == -EPERM)
		die(0, "not permitted to trace: %s", privilege_missing(PRIVILEGE_BPF));
	if (err == -ENOSYS)
		die(0, "this kernel has no bpf(2) system call (CONFIG_BPF_SYSCALL is not set)");
	if (err != -EOPNOTSUPP)
		die(err, "cannot probe for --attach %s support", attach_name(kind));
	if (kind == ATTACH_PERF || try_kind(ATTACH_PERF) == -EOPNOTSUPP)
		die(0, "this kernel has no BPF cookies for uprobes: Linux 5.15 or newer is required");
	die(0, "this kernel does not support --attach %s (Linux %s); omit the option", attach_name(kind),
	    kind == ATTACH_SESSION ? "6.13" : "6.6, with a working pid filter 6.10");
}

enum attach_kind attach_choose(enum attach_kind wanted)
{
	enum attach_kind kind = wanted ? wanted : ATTACH_SESSION;
	int err;

	while ((err = try_kind(kind))) {
		if (wanted || kind == ATTACH_PERF || err == -EPERM || err == -ENOSYS)
			no_kind(kind, err);
		kind++;
	}
	if (!may_read())
		die(0, "not permitted to trace: the kernel is locked down (lockdown=confidentiality, see "
		    "/sys/kernel/security/lockdown), so BPF programs cannot read arguments; boot with "
		    "lockdown=integrity or none");
	return kind;
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

static int attach_perf(struct attachment *a, struct bpf_object *obj, const char *path, int pid,
		       const struct elf_probe *probes, int n)
{
	static const char *const names[] = { "cuda_return", "cuda_enter" };

	a->links = xcalloc(2 * n, sizeof(*a->links));
	/* returns first: an entry whose return is not armed yet would look unfinished */
	for (int i = 0; i < 2 * n; i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(obj, names[i / n]);
		LIBBPF_OPTS(bpf_uprobe_opts, opts, .bpf_cookie = probes[i % n].id,
			    .retprobe = i < n);

		if (!p || (i < n && !probes[i].returns))
			continue;
		a->links[a->nlinks] = perf_counted(p, pid ? pid : -1, path, probes[i % n].offset, &opts);
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
	__u64 *offsets = xcalloc(n, 2 * sizeof(*offsets)), *cookies = offsets + n;
	int err = 0;

	for (int i = session ? 2 : 0; !err && i < (session ? 3 : 2); i++) {
		struct bpf_program *p = bpf_object__find_program_by_name(obj, names[i]);
		int count = 0;

		for (int j = 0; j < n; j++) {
			if (i == 0 && !probes[j].returns)
				continue;
			offsets[count] = probes[j].offset;
			cookies[count++] = probes[j].id;
		}
		if (!p || !count)
			continue;
		a->fds[i % 2] = link_counted(bpf_program__fd(p), type, path, offsets, cookies, count, pid,
					     i == 0);
		if (a->fds[i % 2] < 0)
			err = -errno;
	}
	free(offsets);
	return err;
}

struct attachment *attach_file(struct bpf_object *obj, enum attach_kind kind, int fd, int pid,
			       const struct elf_probe *probes, int n)
{
	struct attachment *a = xcalloc(1, sizeof(*a));
	char path[32];
	int err;

	a->fds[0] = a->fds[1] = -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	err = kind == ATTACH_PERF ? attach_perf(a, obj, path, pid, probes, n) :
				    attach_multi(a, obj, kind, path, pid, probes, n);
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

struct attachment *attach_one(struct bpf_program *prog, enum attach_kind kind, int fd, int pid,
			      unsigned long long offset)
{
	struct attachment *a = xcalloc(1, sizeof(*a));
	__u64 at = offset, cookie = 0;
	char path[32];

	a->fds[0] = a->fds[1] = -1;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (kind != ATTACH_PERF) {
		a->fds[0] = link_counted(bpf_program__fd(prog), TRACE_UPROBE_MULTI, path, &at, &cookie, 1,
					 pid, false);
		if (a->fds[0] >= 0)
			return a;
	} else {
		a->links = xcalloc(1, sizeof(*a->links));
		a->links[0] = perf_counted(prog, pid, path, offset, NULL);
		a->nlinks = 1;
		if (a->links[0])
			return a;
		a->nlinks = 0;
	}
	cookie = errno;
	attach_remove(a);
	errno = cookie;
	return NULL;
}

void attach_remove(struct attachment *a)
{
	/* entries first: calls under way still return */
	for (int i = 1; i >= 0; i--)
		if (a->fds[i] >= 0) {
			close(a->fds[i]);
			give_link();
		}
	while (a->nlinks) {
		bpf_link__destroy(a->links[--a->nlinks]);
		give_link();
	}
	free(a->links);
	free(a);
}
