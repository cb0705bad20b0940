/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The tool's socket in the program's environment. */
#include <stddef.h>
#include <linux/mman.h>
#include "agent/inject/inject.h"

enum { MOST = 8 << 20 };	/* bytes: the kernel takes 6 MiB at most */

/* value: NAME=SOCKET for each tool. */
static bool socket_find(struct injected *a, const char *value)
{
	unsigned long n = length(inject_name);

	while (*value) {
		unsigned long size = 0;

		if (begins(value, inject_name) && value[n] == '=') {
			for (value += n + 1; value[size] && value[size] != ' '; size++)
				;
			if (!size || size >= SOCKET_NAME)
				return false;
			memcpy(a->socket, value, size);
			return true;
		}
		while (*value && *value != ' ')
			value++;
		while (*value == ' ')
			value++;
	}
	return false;
}

static bool variables(struct injected *a)
{
	char *all = (char *)sys6(__NR_mmap, 0, MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	bool found = false;
	unsigned long size;

	if (sys_failed((long)all))
		return false;
	size = sys_read_file("/proc/thread-self/environ", all, MOST - 1);
	for (const char *s = all; s < all + size && !found; s += length(s) + 1)
		if (begins(s, INJECT_SOCKETS "="))
			found = socket_find(a, s + sizeof(INJECT_SOCKETS));
	sys3(__NR_munmap, (long)all, MOST, 0);
	return found;
}

bool environment(struct injected *a)
{
	const void *vdso = NULL;

	if (!variables(a) || !environment_process(a, &vdso))
		return false;
	clock_find(a, vdso);
	a->patience_own = PATIENCE_NS;
	a->patience = &a->patience_own;
	return true;
}
