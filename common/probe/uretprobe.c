/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include "base/die.h"
#include "elf/elf.h"
#include "probe/attach.h"
#include "probe/dso.h"
#include "probe/probes.h"
#include "probe/uretprobe.h"
#include "proc/privileges.h"
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
	int prog = attach_empty_program(TRACE_UPROBE_MULTI), link;

	if (prog < 0)
		return -1;
	proc_mappings(getpid(), find, &place);
	link = !place.offset ? -1 : uprobe_multi_link(prog, TRACE_UPROBE_MULTI, "/proc/self/exe",
						      &place.offset, NULL, NULL, 1, pid, true);
	close(prog);
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

/* Leaves out the return probes of processes that would die of them: see uretprobe.h. */

static int count_returns(const struct dso *d)
{
	int n = 0;

	for (int i = 0; i < d->scan.n; i++)
		n += d->scan.probes[i].returns;
	return n;
}

bool uretprobe_kills(struct probes *p)
{
	if (!p->uretprobe_tried && !p->seccomp_force)
		p->uretprobe_kills = uretprobe_try() == URETPROBE_KILLS;
	p->uretprobe_tried = true;
	return p->uretprobe_kills;
}

#define REMEDY "update the kernel (6.14 has the fix), or force it with --seccomp-force"

static void say_process(int pid, bool all)
{
	warning(0, "process %d has a seccomp filter, and return probes kill such a process on this kernel: %s; "
		REMEDY, pid, all ? "it is not traced" : "calls that need them are not traced in it");
}

static void say_everywhere(struct probes *p, bool all)
{
	if (all)
		failure_set(&p->failure, EXIT_FAILURE, 0,
			    "return probes kill processes that have a seccomp filter on this kernel, so not every "
			    "process can be traced: %s; " REMEDY, p->on_dso ? "probe entries alone, with cuda:" :
			    "choose some with -p or -c");
	else if (!p->uretprobe_said)
		warning(0, "return probes kill processes that have a seccomp filter on this kernel: calls that "
			"need them are not traced, unless with -p or -c; " REMEDY);
	p->uretprobe_said = true;
}

bool uretprobe_unsafe(struct probes *p, const struct dso *d, int pid, bool said)
{
	int returns = count_returns(d);

	if (p->on_dso)		/* bpftrace's probes are in every process, whatever is traced */
		pid = 0;
	if (!returns || (pid && !proc_has_filter(pid)) || !uretprobe_kills(p))
		return false;
	if (!pid)
		say_everywhere(p, returns == d->scan.n);
	else if (!said)
		say_process(pid, returns == d->scan.n);
	return true;
}
