/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/die.h"
#include "cudaexporter/web_confine.h"
#include "cudaexporter/web_message.h"
#include "proc/confine.h"

enum { FILES = 64 };

static void limit(int resource, rlim_t n)
{
	struct rlimit to = { n, n };

	if (setrlimit(resource, &to))
		die(errno, "cannot limit the server");
}

void web_confine_rights(void)
{
	const char *cannot = confine_rights();

	if (cannot)
		die(errno, "the server cannot %s", cannot);
	limit(RLIMIT_NOFILE, FILES);
#ifndef __SANITIZE_ADDRESS__	/* which maps terabytes */
	limit(RLIMIT_AS, 2ull << 30);	/* with each thread's stack and all pages that are sent */
#endif
}

/* Without conditions.  Nothing here opens a file, connects, signals another process or executes.  A thread is
 * made by clone: clone3, whose flags a filter cannot read, says ENOSYS. */
static const int allowed[] = {
	SCMP_SYS(accept4), SCMP_SYS(getsockname), SCMP_SYS(getpeername), SCMP_SYS(getsockopt),
	SCMP_SYS(recvfrom), SCMP_SYS(recvmsg), SCMP_SYS(shutdown),
	SCMP_SYS(read), SCMP_SYS(readv), SCMP_SYS(pread64), SCMP_SYS(write), SCMP_SYS(writev), SCMP_SYS(sendfile),
	SCMP_SYS(lseek), SCMP_SYS(close), SCMP_SYS(poll), SCMP_SYS(ppoll),
	SCMP_SYS(brk), SCMP_SYS(munmap), SCMP_SYS(mremap), SCMP_SYS(madvise),
	SCMP_SYS(futex), SCMP_SYS(set_robust_list), SCMP_SYS(rseq), SCMP_SYS(sched_yield),
	SCMP_SYS(sched_getaffinity), SCMP_SYS(sigaltstack), SCMP_SYS(rt_sigaction), SCMP_SYS(rt_sigprocmask),
	SCMP_SYS(rt_sigreturn), SCMP_SYS(restart_syscall), SCMP_SYS(exit), SCMP_SYS(exit_group),
	SCMP_SYS(getpid), SCMP_SYS(gettid), SCMP_SYS(getrandom), SCMP_SYS(getrusage),
	SCMP_SYS(clock_gettime), SCMP_SYS(gettimeofday), SCMP_SYS(time), SCMP_SYS(nanosleep),
	SCMP_SYS(clock_nanosleep),
};

/* What the C library may look up and can do without, such as /proc/sys/vm/overcommit_memory. */
static const int refused[] = {
	SCMP_SYS(openat), SCMP_SYS(fstat), SCMP_SYS(newfstatat), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
	SCMP_SYS(sysinfo), SCMP_SYS(uname), SCMP_SYS(prlimit64),
};

/* F_SETOWN and O_ASYNC would have the kernel signal another process. */
static int descriptor_flags(scmp_filter_ctx filter)
{
	static const int commands[] = { F_GETFD, F_SETFD, F_GETFL };
	int err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 2, SCMP_A1(SCMP_CMP_EQ, F_SETFL, 0),
				   SCMP_A2(SCMP_CMP_MASKED_EQ, O_ASYNC, 0));

	for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
		err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(fcntl), 1, SCMP_A1(SCMP_CMP_EQ, commands[i], 0));
	return err;
}

/* SO_LINGER would have others wait who close the socket. */
static int socket_options(scmp_filter_ctx filter)
{
	static const int names[] = { TCP_NODELAY, TCP_CORK };
	int err = 0;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(setsockopt), 2,
					SCMP_A1(SCMP_CMP_EQ, IPPROTO_TCP, 0), SCMP_A2(SCMP_CMP_EQ, names[i], 0));
	return err;
}

/* Sending connects with MSG_FASTOPEN.  sendmsg() can pass descriptors, so the collector gets none of it: a
 * descriptor from 4 to 63 has one of four bits, and those above. */
static int sending(scmp_filter_ctx filter)
{
	int err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendto), 1,
				   SCMP_A3(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0));

	_Static_assert(WEB_FD_SOCKET < 4 && FILES == 64, "the bits are those from 4 to 32");
	for (scmp_datum_t bit = 4; bit < FILES; bit *= 2)
		err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(sendmsg), 2,
					SCMP_A0(SCMP_CMP_MASKED_EQ, ~(scmp_datum_t)(FILES - 1) | bit, bit),
					SCMP_A2(SCMP_CMP_MASKED_EQ, MSG_FASTOPEN, 0));
	return err;
}

static int conditions(scmp_filter_ctx filter)
{
	const struct scmp_arg_cmp no_exec = SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0);
	int err = 0;

	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1, no_exec);
	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mprotect), 1, no_exec);
	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(clone), 1,
				SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	err |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(prctl), 1, SCMP_A0(SCMP_CMP_EQ, PR_SET_NAME, 0));
	for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
		err |= seccomp_rule_add(filter, SCMP_ACT_ERRNO(EACCES), refused[i], 0);
	/* the server's last message has been written: /dev/null takes the place of standard error */
	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(dup2), 2, SCMP_A0(SCMP_CMP_EQ, STDOUT_FILENO, 0),
				SCMP_A1(SCMP_CMP_EQ, STDERR_FILENO, 0));
	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(dup3), 3, SCMP_A0(SCMP_CMP_EQ, STDOUT_FILENO, 0),
				SCMP_A1(SCMP_CMP_EQ, STDERR_FILENO, 0), SCMP_A2(SCMP_CMP_EQ, 0, 0));
	/* abort() */
	err |= seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(tgkill), 1, SCMP_A0(SCMP_CMP_EQ, getpid(), 0));
	return err | descriptor_flags(filter) | socket_options(filter) | sending(filter);
}

void web_confine_calls(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	int err = filter ? 0 : -ENOMEM;

	for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed) && !err; i++)
		err = seccomp_rule_add(filter, SCMP_ACT_ALLOW, allowed[i], 0);
	if (!err)
		err = conditions(filter) ? -EINVAL : 0;
	if (!err)
		err = seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1);
	if (!err)
		err = seccomp_load(filter);
	if (err)
		die(err, "cannot confine the server by seccomp (CONFIG_SECCOMP_FILTER)");
	seccomp_release(filter);
}
