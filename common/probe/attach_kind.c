/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <errno.h>
#include <unistd.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "base/failure.h"
#include "probe/attach.h"
#include "probe/uprobe_multi.h"
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
	const unsigned long long offset = 0;
	int prog, link;

	prog = attach_empty_program(type);
	if (prog < 0)
		return prog;
	if (kind == ATTACH_PERF) {
		close(prog);
		return libbpf_probe_bpf_helper(BPF_PROG_TYPE_KPROBE, BPF_FUNC_get_attach_cookie,
					       NULL) == 1 ? 0 : -EOPNOTSUPP;
	}
	/* a directory cannot be probed: EBADF, unless the kind itself is unknown */
	link = uprobe_multi_link(prog, type, "/", &offset, NULL, NULL, 1, 0, false);
	if (link >= 0 || errno != EBADF) {
		int err = link >= 0 || errno == EINVAL ? EOPNOTSUPP : errno;

		if (link >= 0)
			close(link);
		close(prog);
		return -err;
	}
	/* 6.6 to 6.9 took the pid for a thread ID; fixed kernels return EINVAL for a bad one */
	link = uprobe_multi_link(prog, type, "/proc/self/exe", &offset, NULL, NULL, 1, -1, false);
	if (link >= 0) {
		close(link);
		link = 0;
	} else {
		link = errno == ESRCH ? -EOPNOTSUPP : 0;
	}
	close(prog);
	return link;
}

static void explain(struct failure *f, enum attach_kind kind, int err)
{
	if (err == -EPERM) {
		char *why = privilege_missing(PRIVILEGE_BPF);

		failure_set(f, EXIT_FAILURE, 0, "not permitted to trace: %s", why);
		free(why);
	} else if (err == -ENOSYS) {
		failure_set(f, EXIT_FAILURE, 0, "this kernel has no bpf(2) system call (CONFIG_BPF_SYSCALL is not set)");
	} else if (err != -EOPNOTSUPP) {
		failure_set(f, EXIT_FAILURE, err, "cannot probe for --attach %s support",
			    attach_name(kind));
	} else if (kind == ATTACH_PERF || attach_try(ATTACH_PERF) == -EOPNOTSUPP) {
		failure_set(f, EXIT_FAILURE, 0,
			    "this kernel has no BPF cookies for uprobes: Linux 5.15 or newer is required");
	} else {
		failure_set(f, EXIT_FAILURE, 0,
			    "this kernel does not support --attach %s (Linux %s); omit the option",
			    attach_name(kind),
			    kind == ATTACH_SESSION ? "6.13" : "6.6, with a working pid filter 6.10");
	}
}

enum attach_kind attach_choose(enum attach_kind wanted, struct failure *f)
{
	enum attach_kind kind = wanted ? wanted : ATTACH_SESSION;
	int err;

	while ((err = attach_try(kind))) {
		if (wanted || kind == ATTACH_PERF || err == -EPERM || err == -ENOSYS) {
			explain(f, kind, err);
			return ATTACH_AUTO;
		}
		kind++;
	}
	if (attach_may_read())
		return kind;
	failure_set(f, EXIT_FAILURE, 0,
		    "not permitted to trace: the kernel is locked down (lockdown=confidentiality, see "
		    "/sys/kernel/security/lockdown), so BPF programs cannot read arguments; boot with "
		    "lockdown=integrity or none");
	return ATTACH_AUTO;
}
