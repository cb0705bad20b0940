/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "cudabt/bt_trap.h"

/* with SCM_RIGHTS */
union control {
	char space[CMSG_SPACE(sizeof(int))];
	struct cmsghdr head;
};

static int install(bool opens)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, opens ? SYS_openat : SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };
	const unsigned flags = SECCOMP_FILTER_FLAG_NEW_LISTENER;
	int trap = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);

	/* without CAP_SYS_ADMIN */
	if (trap < 0 && errno == EACCES && !prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		trap = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	return trap;
}

static struct msghdr message(union control *control, struct iovec *byte)
{
	return (struct msghdr){ .msg_iov = byte, .msg_iovlen = 1, .msg_control = control->space,
				.msg_controllen = sizeof(control->space) };
}

bool bt_trap_set(int socket, bool opens)
{
	union control control = { .head = { .cmsg_len = CMSG_LEN(sizeof(int)), .cmsg_level = SOL_SOCKET,
					    .cmsg_type = SCM_RIGHTS } };
	struct iovec byte = { "", 1 };
	struct msghdr m = message(&control, &byte);
	int trap = install(opens);

	memcpy(CMSG_DATA(&control.head), &trap, sizeof(trap));
	return trap >= 0 && sendmsg(socket, &m, 0) == 1 && !close(trap);
}

int bt_trap_receive(int socket)
{
	union control control = { .space = "" };
	char c;
	struct iovec byte = { &c, 1 };
	struct msghdr m = message(&control, &byte);
	ssize_t n;
	int trap;

	do
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != 1 || m.msg_controllen < control.head.cmsg_len || control.head.cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&trap, CMSG_DATA(&control.head), sizeof(trap));
	return trap;
}

bool bt_trap_next(int trap, int ms, struct seccomp_notif *call)
{
	struct pollfd ready = { .fd = trap, .events = POLLIN };

	memset(call, 0, sizeof(*call));
	return poll(&ready, 1, ms) > 0 && (ready.revents & POLLIN) &&
	       !ioctl(trap, SECCOMP_IOCTL_NOTIF_RECV, call);
}

/* The call is still waiting: what was read is of the thread that made it. */
static bool is_made(int trap, const struct seccomp_notif *call)
{
	return !ioctl(trap, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id);
}

ssize_t bt_trap_read(int trap, const struct seccomp_notif *call, unsigned long long address, void *to,
		     size_t size)
{
	char name[32];
	ssize_t n;
	int mem;

	snprintf(name, sizeof(name), "/proc/%d/mem", call->pid);
	mem = open(name, O_RDONLY | O_CLOEXEC);
	if (mem < 0)
		return -1;
	n = pread(mem, to, size, address);
	close(mem);
	return is_made(trap, call) ? n : -1;
}

void bt_trap_continue(int trap, const struct seccomp_notif *call)
{
	struct seccomp_notif_resp answer = { .id = call->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	ioctl(trap, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

void bt_trap_answer(int trap, const struct seccomp_notif *call, int fd)
{
	struct seccomp_notif_addfd given = { .id = call->id, .flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = fd,
					     .newfd_flags = O_CLOEXEC };
	struct seccomp_notif_resp failed = { .id = call->id, .error = fd };

	if (fd >= 0 && ioctl(trap, SECCOMP_IOCTL_NOTIF_ADDFD, &given) < 0)
		failed.error = -errno;
	if (failed.error < 0)
		ioctl(trap, SECCOMP_IOCTL_NOTIF_SEND, &failed);
}
