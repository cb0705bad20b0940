/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Tables that the library makes when the first CUDA library is mapped. */
#define _GNU_SOURCE
#include <stddef.h>
#include <linux/membarrier.h>
#include <linux/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include "agent/resident/resident.h"
#include "resident_names.def"

/* ANNOUNCE_NS: how long a tool may do nothing before it asks. */
enum { ANNOUNCE_NS = 300 * 1000000, NAMES = sizeof(resident_names) / sizeof(*resident_names) };

void resident_window_clear(struct resident_state *r)
{
	long p = sys6(__NR_mmap, (long)r->window, INSTANCE_WINDOW, PROT_READ,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | (r->window ? MAP_FIXED : 0), -1, 0);

	r->window = sys_failed(p) ? r->window : (void *)p;
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
static int tool_open(struct ucred *who)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	unsigned n = resident_awaits(to.sun_path + 1, (__u32)sys3(__NR_geteuid, 0, 0, 0));
	int fd = (int)sys3(__NR_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	if (!sys3(__NR_connect, fd, (long)&to, (long)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) && peer_trusted(fd, who))
		return fd;
	sys3(__NR_close, fd, 0, 0);
	return -1;
}

/* Waits until the tool has asked, or closes the connection.  The program's signals are not
 * blocked. */
static void announce(struct resident_state *r)
{
	__u64 left = ANNOUNCE_NS;
	struct ucred who;
	/* a seccomp filter may forbid it */
	int fd = injected.filters ? -1 : tool_open(&who);
	__u32 asked;

	if (fd < 0)
		return;
	peer_await(fd, who.pid, &left, NULL);
	sys3(__NR_close, fd, 0, 0);
	asked = __atomic_load_n(&r->control->generation, __ATOMIC_ACQUIRE);
	if (asked)
		control_put(r, offsetof(struct resident_control, first_generation), asked);
	else
		r->patience -= ANNOUNCE_NS - left;
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
	if (!r->window || !page_make(r) || !control_make(r))
		return false;
	names_set(a);
	a->named = named;
	a->idle = &r->control->flags;
	r->generation = 1;
	r->barrier = has_barrier();
	r->patience = PATIENCE_NS;
	announce(r);
	return true;
}
