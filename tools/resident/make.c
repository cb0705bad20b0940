/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the library makes when the first CUDA library is mapped. */
#define _GNU_SOURCE
#include <stddef.h>
#include <asm/resource.h>
#include <asm/stat.h>
#include <linux/fcntl.h>
#include <linux/membarrier.h>
#include <linux/memfd.h>
#include <linux/mman.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include "resident/resident.h"
#include "resident_names.def"

/* ANNOUNCE_NS: how long a tool may take to ask. */
enum { ANNOUNCE_NS = 300 * 1000000, MAPS = 8 << 20, NAMES = sizeof(resident_names) / sizeof(*resident_names) };

void resident_window_clear(struct resident_state *r)
{
	long p = sys6(__NR_mmap, (long)r->window, INSTANCE_WINDOW, PROT_READ,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (r->window ? MAP_FIXED : 0), -1, 0);

	r->window = sys_failed(p) ? r->window : (void *)p;
}

/* The folder of this library, with a / at its end, by its mapping. */
static bool folder_find(struct resident_state *r)
{
	char *all = (char *)sys6(__NR_mmap, 0, MAPS, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	const __u64 here = (__u64)folder_find;
	unsigned long n = 0, size, slash = 0;
	char *s;

	if (sys_failed((long)all))
		return false;
	size = sys_read_file("/proc/self/maps", all, MAPS - 1);
	for (s = all; s < all + size; s++) {
		__u64 bound[2] = { 0 };

		for (int i = 0; i < 2; i++, s++)
			for (; (*s >= '0' && *s <= '9') || (*s >= 'a' && *s <= 'f'); s++)
				bound[i] = bound[i] << 4 | (__u64)(*s <= '9' ? *s - '0' : *s - 'a' + 10);
		while (*s && *s != '\n' && *s != '/')
			s++;
		if (bound[0] <= here && here < bound[1] && *s == '/')
			break;
		while (*s && *s != '\n')
			s++;
	}
	for (; s < all + size && *s && *s != '\n' && n < FOLDER - 1; n++) {
		slash = *s == '/' ? n + 1 : slash;
		r->folder[n] = *s++;
	}
	r->folder[slash] = 0;
	sys3(__NR_munmap, (long)all, MAPS, 0);
	return slash;
}

/* None of the standard descriptors: a program that has closed these opens its own there.  Beyond RLIMIT_FSIZE ftruncate(2) would
 * send SIGXFSZ. */
static int file_make(void)
{
	__u64 limit[2] = { 0 };	/* struct rlimit64 */
	long fd, higher;

	if (sys4(__NR_prlimit64, 0, RLIMIT_FSIZE, 0, (long)limit) || limit[0] < RESIDENT_BYTES)
		return -1;
	fd = sys3(__NR_memfd_create, (long)RESIDENT_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING, 0);
	if (fd < 0 || fd > 2)
		return (int)fd;
	higher = sys3(__NR_fcntl, fd, F_DUPFD_CLOEXEC, 3);
	sys3(__NR_close, fd, 0, 0);
	return (int)higher;
}

static bool share(struct resident_state *r)
{
	const struct resident_control first = {
		.magic = RESIDENT_MAGIC, .version = RESIDENT_VERSION, .bytes = sizeof(first), .filters = injected.filters, .flags = INJECT_OFF,
	};
	struct stat st;
	long p;

	r->fd = file_make();
	if (r->fd < 0)
		return false;
	p = sys3(__NR_ftruncate, r->fd, RESIDENT_BYTES, 0) || sys3(__NR_fstat, r->fd, (long)&st, 0) ||
	    sys3(__NR_fcntl, r->fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) ? -1 :
	    sys6(__NR_mmap, 0, RESIDENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, 0);
	if (sys_failed(p)) {
		sys3(__NR_close, r->fd, 0, 0);
		return false;
	}
	sys3(__NR_madvise, p, RESIDENT_BYTES, MADV_DONTDUMP);
	r->dev = st.st_dev;
	r->ino = st.st_ino;
	memcpy((void *)p, &first, sizeof(first));
	r->control = (void *)p;
	return true;
}

/* Without wiping, a child of a fork would wait for its parent's threads. */
static bool page_make(struct resident_state *r)
{
	long p = sys6(__NR_mmap, 0, sizeof(*r->page), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	r->page = sys_failed(p) ? NULL : (void *)p;
	return r->page && !sys3(__NR_madvise, p, sizeof(*r->page), MADV_WIPEONFORK);
}

static bool has_barrier(void)
{
	long has = sys3(__NR_membarrier, MEMBARRIER_CMD_QUERY, 0, 0);

	return !sys_failed(has) && has & MEMBARRIER_CMD_PRIVATE_EXPEDITED;
}

/* Returns a connection to a tool that awaits programs, which must be this user's or root's; -1: none. */
static int tool_open(void)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	unsigned n = resident_awaits(to.sun_path + 1, (__u32)sys3(__NR_geteuid, 0, 0, 0));
	int fd = (int)sys3(__NR_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct ucred who;

	if (fd < 0)
		return -1;
	if (!sys3(__NR_connect, fd, (long)&to, (long)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) && peer_trusted(fd, &who))
		return fd;
	sys3(__NR_close, fd, 0, 0);
	return -1;
}

static void announce(const struct resident_state *r)
{
	/* a seccomp filter may forbid it */
	struct pollfd in = { .fd = injected.filters ? -1 : tool_open(), .events = POLLIN };
	struct timespec limit = { .tv_nsec = ANNOUNCE_NS };
	const __u64 all = ~0ull;	/* a handler must not end the wait */

	if (in.fd < 0)
		return;
	if (sys6(__NR_ppoll, (long)&in, 1, (long)&limit, (long)&all, sizeof(all), 0) > 0)
		r->control->first_generation = __atomic_load_n(&r->control->generation, __ATOMIC_ACQUIRE);
	sys3(__NR_close, in.fd, 0, 0);
}

static void names_set(struct injected *a)
{
	static struct inject_function functions[NAMES];

	_Static_assert((int)NAMES <= (int)INJECT_FUNCTIONS, "too many functions");
	for (__u32 i = 0; i < NAMES; i++) {
		functions[i] = (struct inject_function){ .name = resident_names[i], .flags = 1 << INJECT_STACK_SHIFT };
		a->hash[i] = object_hash(resident_text + resident_names[i]);
	}
	a->shm.function = functions;
	a->shm.functions = NAMES;
	a->shm.names = resident_text;
}

bool resident_make(struct resident_state *r, struct injected *a)
{
	static __u16 named[STUBS][STUB_NAMES];

	resident_window_clear(r);
	if (!r->window || !folder_find(r) || !page_make(r) || !share(r))
		return false;
	names_set(a);
	a->named = named;
	a->idle = &r->control->flags;
	r->generation = 1;
	r->barrier = has_barrier();
	announce(r);
	return true;
}
