/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The memory that a tool writes to (abi/agent_resident.h).  A child of a fork may have given up
 * privileges that its parent has, and must not write to its parent's: it inherits a read-only
 * mapping, which it cannot change, and a descriptor to read.  Only the user who owns the memory,
 * and root, can open it to write. */
#define _GNU_SOURCE
#include <stddef.h>
#include <asm/resource.h>
#include <asm/stat.h>
#include <linux/fcntl.h>
#include <linux/memfd.h>
#include <linux/mman.h>
#include "agent/resident/resident.h"

enum { DESCRIPTOR = 32, OWNER_ONLY = 0600 };

/* None of the standard descriptors: a program that has closed these opens its own there. */
static int above_standard(int fd)
{
	long higher;

	if (fd < 0 || fd > 2)
		return fd;
	higher = sys3(__NR_fcntl, fd, F_DUPFD_CLOEXEC, 3);
	sys3(__NR_close, fd, 0, 0);
	return (int)higher;
}

/* Opens the control by a descriptor of it.  What the program has as /proc may be anything. */
static int reopen(const struct resident_state *r, int fd, int flags)
{
	char path[DESCRIPTOR] = "/proc/self/fd/", digits[12], *to = path + 14;
	struct stat st;
	int i = 0, new;

	do
		digits[i++] = (char)('0' + fd % 10);
	while (fd /= 10);
	while (i)
		*to++ = digits[--i];
	new = (int)sys4(__NR_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC | O_NONBLOCK, 0);
	if (new < 0)
		return new;
	if (!sys3(__NR_fstat, new, (long)&st, 0) && st.st_ino == r->ino && st.st_dev == r->dev)
		return new;
	sys3(__NR_close, new, 0, 0);
	return -1;
}

/* Beyond RLIMIT_FSIZE ftruncate(2) would send SIGXFSZ. */
static int file_make(struct resident_state *r)
{
	__u64 limit[2] = { 0 };	/* struct rlimit64 */
	struct stat st;
	long fd;

	if (sys4(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, (long)limit) || limit[0] < RESIDENT_BYTES)
		return -1;
	fd = sys3(__NR_memfd_create, (long)RESIDENT_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0);
	if (fd < 0)
		return -1;
	if (sys3(__NR_ftruncate, fd, RESIDENT_BYTES, 0) || sys3(__NR_fchmod, fd, OWNER_ONLY, 0) ||
	    sys3(__NR_fcntl, fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ||
	    sys3(__NR_fstat, fd, (long)&st, 0)) {
		sys3(__NR_close, fd, 0, 0);
		return -1;
	}
	r->dev = st.st_dev;
	r->ino = st.st_ino;
	return (int)fd;
}

static void *control_map(const void *at, int prot, int fd)
{
	const int flags = MAP_SHARED | (at ? MAP_FIXED : 0);
	long p = sys6(__NR_mmap, (long)at, RESIDENT_BYTES, prot, flags, fd, 0);

	if (sys_failed(p))
		return NULL;
	sys3(__NR_madvise, p, RESIDENT_BYTES, MADV_DONTDUMP);
	return (void *)p;
}

/* Sets what the process that makes it has, and no child of it. */
static bool own_map(struct resident_state *r, int fd)
{
	const struct resident_control first = {
		.magic = RESIDENT_MAGIC, .version = RESIDENT_VERSION, .bytes = sizeof(first),
		.filters = injected.filters, .flags = INJECT_OFF,
	};
	struct resident_control *own = control_map(NULL, PROT_READ | PROT_WRITE, fd);

	if (!own)
		return false;
	if (sys3(__NR_madvise, (long)own, RESIDENT_BYTES, MADV_DONTFORK)) {
		sys3(__NR_munmap, (long)own, RESIDENT_BYTES, 0);
		return false;
	}
	memcpy(own, &first, sizeof(first));
	r->page->own = own;
	return true;
}

bool control_make(struct resident_state *r)
{
	int fd = file_make(r), read = fd < 0 ? -1 : above_standard(reopen(r, fd, O_RDONLY));
	const void *p = read >= 0 && own_map(r, fd) ? control_map(r->control, PROT_READ, read) : NULL;

	if (fd >= 0)
		sys3(__NR_close, fd, 0, 0);
	if (!p && read >= 0)
		sys3(__NR_close, read, 0, 0);
	r->fd = p ? read : -1;
	r->control = p ?: r->control;
	return p;
}

void control_put(const struct resident_state *r, __u32 offset, __u32 value)
{
	int fd;

	if (r->page->own) {
		__atomic_store_n((__u32 *)((char *)r->page->own + offset), value, __ATOMIC_RELEASE);
		return;
	}
	fd = r->fd < 0 ? -1 : reopen(r, r->fd, O_WRONLY);
	if (fd < 0)
		return;
	sys4(__NR_pwrite64, fd, (long)&value, sizeof(value), offset);
	sys3(__NR_close, fd, 0, 0);
}
