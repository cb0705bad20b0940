/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/perf_event.h>
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
#include "proc/user.h"

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

/* Reads the caller's memory; returns the number of bytes up to where it ends, or -1. */
static ssize_t bt_trap_read(int trap, const struct seccomp_notif *call, unsigned long long address, void *to,
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

/* The answers: do it yourself; it returns fd, for the caller to close, or fails with -fd. */
static void bt_trap_continue(int trap, const struct seccomp_notif *call)
{
	struct seccomp_notif_resp answer = { .id = call->id, .flags = SECCOMP_USER_NOTIF_FLAG_CONTINUE };

	ioctl(trap, SECCOMP_IOCTL_NOTIF_SEND, &answer);
}

static void bt_trap_answer(int trap, const struct seccomp_notif *call, int fd)
{
	struct seccomp_notif_addfd given = { .id = call->id, .flags = SECCOMP_ADDFD_FLAG_SEND, .srcfd = fd,
					     .newfd_flags = O_CLOEXEC };
	struct seccomp_notif_resp failed = { .id = call->id, .error = fd };

	if (fd >= 0 && ioctl(trap, SECCOMP_IOCTL_NOTIF_ADDFD, &given) < 0)
		failed.error = -errno;
	if (failed.error < 0)
		ioctl(trap, SECCOMP_IOCTL_NOTIF_SEND, &failed);
}

/* The uprobes of bpftrace.  It asks for them in the stand-in of each file (bt_standin.h), and we
 * open them in the file itself, through the descriptor by which it was read.  So bpftrace neither
 * reads a file of another user's nor refers to one by a name. */

/* what bpftrace passed */
struct request {
	struct perf_event_attr attr;
	char path[64];		/* config1; empty if it is longer */
};

struct bt_uprobes bt_uprobes_new(const struct bt_files *files, const struct bt_file *standins, int n)
{
	const char *name = "/sys/bus/event_source/devices/uprobe/type";
	struct bt_uprobes u = { .files = files, .standins = standins, .n = n };
	FILE *f = fopen(name, "re");

	if (!f || fscanf(f, "%u", &u.type) != 1)
		die(f ? 0 : errno, "cannot read %s", name);
	fclose(f);
	return u;
}

/* The attributes may be of an older or a newer size than ours. */
static bool read_request(int trap, const struct seccomp_notif *call, struct request *r)
{
	ssize_t n;

	memset(r, 0, sizeof(*r));
	n = bt_trap_read(trap, call, call->data.args[0], &r->attr, sizeof(r->attr));
	if (n < PERF_ATTR_SIZE_VER1)
		return false;
	bt_trap_read(trap, call, r->attr.config1, r->path, sizeof(r->path));
	if (!memchr(r->path, 0, sizeof(r->path)))
		*r->path = 0;
	if (r->attr.size > sizeof(r->attr))
		r->attr.size = sizeof(r->attr);
	return true;
}

/* Returns the number of the file that the uprobe is meant for, or -1. */
static int file_of(const struct bt_uprobes *u, const struct request *r)
{
	for (int i = 0; i < u->n && r->attr.type == u->type; i++)
		if (!strcmp(r->path, u->standins[i].path))
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

void bt_uprobes_answer(struct bt_uprobes *u, int trap, const struct seccomp_notif *call)
{
	struct request r;
	int i = -1, fd;

	if (read_request(trap, call, &r))
		i = file_of(u, &r);
	if (i < 0) {
		bt_trap_continue(trap, call);
		return;
	}
	u->asked++;
	fd = open_uprobe(u->files->dsos[i], &r, call->data.args);
	bt_trap_answer(trap, call, fd);
	if (fd >= 0)
		close(fd);
}

/* Names for the functions on a stack.  For these bpftrace opens, as root and by name, the files that
 * /proc/PID/maps lists, and the debug files that they name.  Without that list it opens none, and
 * prints addresses. */

/* Returns the process whose list it is, 0 if it is none. */
static int process_of(const char *path)
{
	int pid, end = 0;

	return sscanf(path, "/proc/%d/maps%n", &pid, &end) == 1 && end && !path[end] ? pid : 0;
}

void bt_maps_answer(int trap, const struct seccomp_notif *call, bool *said)
{
	char path[64];
	ssize_t n = bt_trap_read(trap, call, call->data.args[1], path, sizeof(path) - 1);
	unsigned user;
	int pid;

	path[n > 0 ? n : 0] = 0;
	pid = process_of(path);
	user = pid ? proc_user(pid) : 0;
	if (!user || user == geteuid()) {
		bt_trap_continue(trap, call);
		return;
	}
	if (!*said && user != USER_UNKNOWN)
		warning(0, "addresses of process %d are not named: bpftrace would read files of user %u as "
			   "root; with -p it does", pid, user);
	*said |= user != USER_UNKNOWN;
	bt_trap_answer(trap, call, -EACCES);
}
