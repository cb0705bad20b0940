/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "base/die.h"
#include "cudabt/bt_trap.h"
#include "machine/syscalls.h"
#include "proc/user.h"

/* Of a message with SCM_RIGHTS. */
union control {
	char space[CMSG_SPACE(sizeof(int))];
	struct cmsghdr head;
};

static int install(bool opens)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, MACHINE_AUDIT, 0, 4),
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

bool bt_trap_install(int socket, bool opens)
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

/* The call still waits: memory was read from the thread that made it. */
static bool still_waits(int trap, const struct seccomp_notif *call)
{
	return !ioctl(trap, SECCOMP_IOCTL_NOTIF_ID_VALID, &call->id);
}

/* Reads the caller's memory; returns the number of bytes up to its end, or -1. */
static ssize_t read_memory(int trap, const struct seccomp_notif *call, unsigned long long address,
			   void *to, size_t size)
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
	return still_waits(trap, call) ? n : -1;
}

/* Answer: the kernel makes the call. */
static void let_call(int trap, const struct seccomp_notif *call)
{
	struct seccomp_notif_resp answer = { .id = call->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	ioctl(trap, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

/* Answer: the call returns fd, for the caller to close, or fails with -fd. */
static void return_fd(int trap, const struct seccomp_notif *call, int fd)
{
	struct seccomp_notif_addfd given = { .id = call->id, .flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = fd,
					     .newfd_flags = O_CLOEXEC };
	struct seccomp_notif_resp failed = { .id = call->id, .error = fd };

	if (fd >= 0 && ioctl(trap, SECCOMP_IOCTL_NOTIF_ADDFD, &given) < 0)
		failed.error = -errno;
	if (failed.error < 0)
		ioctl(trap, SECCOMP_IOCTL_NOTIF_SEND, &failed);
}

struct bt_trap bt_trap_init(const struct bt_files *files, const struct bt_file *standins, int n)
{
	const char *name = "/sys/bus/event_source/devices/uprobe/type";
	struct bt_trap t = { .fd = -1, .files = files, .standins = standins, .n = n };
	FILE *f = fopen(name, "re");

	if (!f || fscanf(f, "%u", &t.type) != 1)
		die(f ? 0 : errno, "cannot read %s", name);
	fclose(f);
	return t;
}

/* Arguments of perf_event_open(). */
struct request {
	struct perf_event_attr attr;
	char path[64];		/* config1; empty if it is longer */
};

/* The size of the attributes depends on bpftrace's version. */
static bool read_request(int trap, const struct seccomp_notif *call, struct request *r)
{
	ssize_t n;

	memset(r, 0, sizeof(*r));
	n = read_memory(trap, call, call->data.args[0], &r->attr, sizeof(r->attr));
	if (n < PERF_ATTR_SIZE_VER1)
		return false;
	read_memory(trap, call, r->attr.config1, r->path, sizeof(r->path));
	if (!memchr(r->path, 0, sizeof(r->path)))
		*r->path = 0;
	if (r->attr.size > sizeof(r->attr))
		r->attr.size = sizeof(r->attr);
	return true;
}

/* Returns the index of the file whose stand-in is meant, or -1. */
static int file_of(const struct bt_trap *t, const struct request *r)
{
	for (int i = 0; i < t->n && r->attr.type == t->type; i++)
		if (!strcmp(r->path, t->standins[i].path))
			return i;
	return -1;
}

/* Returns the event, or -errno. */
static int open_uprobe(const struct dso *d, struct request *r, const __u64 *args)
{
	int i = bt_standin_probe(&d->scan, r->attr.config2), fd;
	char path[32];

	if (i < 0)
		return -EINVAL;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", dso_fd(d));
	r->attr.config1 = (unsigned long)path;
	r->attr.config2 = d->scan.probes[i].offset;
	fd = syscall(SYS_perf_event_open, &r->attr, (pid_t)args[1], (int)args[2], (int)args[3], args[4]);
	return fd < 0 ? -errno : fd;
}

static void answer_perf_event_open(struct bt_trap *t, const struct seccomp_notif *call)
{
	struct request r;
	int i = -1, fd;

	if (read_request(t->fd, call, &r))
		i = file_of(t, &r);
	if (i < 0) {
		let_call(t->fd, call);
		return;
	}
	t->requested++;
	fd = open_uprobe(t->files->dsos[i], &r, call->data.args);
	return_fd(t->fd, call, fd);
	if (fd >= 0)
		close(fd);
}

/* Returns the process of /proc/PID/maps, 0 for other paths. */
static int process_of(const char *path)
{
	int pid, end = 0;

	return sscanf(path, "/proc/%d/maps%n", &pid, &end) == 1 && end && !path[end] ? pid : 0;
}

/* Refuses the maps of a process that is neither root's nor ours. */
static void answer_openat(struct bt_trap *t, const struct seccomp_notif *call)
{
	char path[64];
	ssize_t n = read_memory(t->fd, call, call->data.args[1], path, sizeof(path) - 1);
	unsigned user;
	int pid;

	path[n > 0 ? n : 0] = 0;
	pid = process_of(path);
	user = pid ? proc_user(pid) : 0;
	if (!user || user == geteuid()) {
		let_call(t->fd, call);
		return;
	}
	if (!t->warned && user != USER_UNKNOWN)
		warning(0, "addresses of process %d are not named: bpftrace would read files of user %u as "
			   "root; with -p it does", pid, user);
	t->warned |= user != USER_UNKNOWN;
	return_fd(t->fd, call, -EACCES);
}

void bt_trap_answer(struct bt_trap *t, int ms)
{
	struct pollfd ready = { .fd = t->fd, .events = POLLIN };
	struct seccomp_notif call = { 0 };

	if (poll(&ready, 1, ms) <= 0 || !(ready.revents & POLLIN) ||
	    ioctl(t->fd, SECCOMP_IOCTL_NOTIF_RECV, &call))
		return;
	if (call.data.nr == SYS_openat)
		answer_openat(t, &call);
	else
		answer_perf_event_open(t, &call);
}
