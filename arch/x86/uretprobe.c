/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include "probe/attach.h"
#include "probe/uretprobe.h"
#include "proc/proc.h"

/* The system call's number on x86-64, which the headers may not have. */
enum { NR_URETPROBE = 335 };

__attribute__((noinline)) static int probed(int n)
{
	__asm__ volatile("" : "+r"(n));
	return n;
}

struct place {
	unsigned long long addr, offset;
};

static bool find(void *ctx, const struct mapping *m)
{
	struct place *p = ctx;

	if (p->addr < m->start || p->addr >= m->end)
		return true;
	p->offset = p->addr - m->start + m->offset;
	return false;
}

static bool install_filter(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NR_URETPROBE, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

	return !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	       !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

enum { RETURNED = 7, NO_FILTER = 8 };

/* Waits until the probe is there. */
static _Noreturn void child(int ready)
{
	int (*volatile call)(int) = probed;	/* so that the compiler calls no copy of it */
	const struct rlimit none = { 0, 0 };
	char byte;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	setrlimit(RLIMIT_CORE, &none);
	for (int sig = 1; sig < NSIG; sig++)
		signal(sig, SIG_DFL);
	if (read(ready, &byte, 1) != 1 || !install_filter())
		_exit(NO_FILTER);
	_exit(call(RETURNED));
}

static int probe(int pid)
{
	struct place place = { .addr = (unsigned long)probed };
	struct uprobe_multi u = {
		.prog = attach_empty_program(TRACE_UPROBE_MULTI), .type = TRACE_UPROBE_MULTI,
		.path = "/proc/self/exe", .pid = pid, .returns = true, .offsets = &place.offset, .n = 1,
	};
	int link;

	if (u.prog < 0)
		return -1;
	proc_mappings(getpid(), find, &place);
	link = place.offset ? uprobe_multi_link(&u) : -1;
	close(u.prog);
	return link;
}

enum uretprobe uretprobe_try(void)
{
	int ends[2], status = 0, link, pid, err;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return URETPROBE_UNKNOWN;
	pid = fork();
	if (!pid) {
		close(ends[1]);
		child(ends[0]);
	}
	close(ends[0]);
	link = pid > 0 ? probe(pid) : -1;
	err = errno;
	if (link >= 0)
		send(ends[1], "", 1, MSG_NOSIGNAL);
	close(ends[1]);
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (link < 0)		/* kernels without links of this kind are older than that system call */
		return err == EPERM || err == EACCES || pid < 0 ? URETPROBE_UNKNOWN : URETPROBE_SAFE;
	close(link);
	if (WIFSIGNALED(status))
		return URETPROBE_KILLS;
	return WEXITSTATUS(status) == RETURNED ? URETPROBE_SAFE : URETPROBE_UNKNOWN;
}
