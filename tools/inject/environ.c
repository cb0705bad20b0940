/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The program's environment and auxiliary vector, from the kernel. */
#include <stddef.h>
#include <time.h>
#include <linux/mman.h>
#include "inject/inject.h"

enum { MOST = 8 << 20, AUXV = 64 };	/* bytes: the kernel takes 6 MiB at most; entries */

static bool begins(const char *s, const char *with)
{
	while (*with)
		if (*s++ != *with++)
			return false;
	return true;
}

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
	size = sys_read_file("/proc/self/environ", all, MOST - 1);
	for (const char *s = all; s < all + size && !found; s += length(s) + 1)
		if (begins(s, INJECT_SOCKETS "="))
			found = socket_find(a, s + sizeof(INJECT_SOCKETS));
	sys3(__NR_munmap, (long)all, MOST, 0);
	return found;
}

/* Returns the number at the end of the line that begins so; 0 if there is none. */
static __u32 number(const char *text, const char *line)
{
	__u32 n = 0;

	for (; *text; text++)
		if (*text == '\n' && begins(text + 1, line)) {
			for (text += 1 + length(line); *text && *text != '\n'; text++)
				n = *text >= '0' && *text <= '9' ? n * 10 + (__u32)(*text - '0') : n;
			return n;
		}
	return 0;
}

/* The lines come after that of the groups: none is found for a process in very many groups.  Linux before 5.9 has no number
 * of filters. */
__u32 environment_filters(char *text)
{
	unsigned long n = sys_read_file("/proc/thread-self/status", text, INJECT_PATH - 1);
	__u32 filters;

	text[n] = 0;
	filters = number(text, "Seccomp_filters:");
	return filters ?: number(text, "Seccomp:") == 2;
}

bool environment(struct injected *a)
{
	ElfW(auxv_t) v[AUXV];
	__s64 now[2] = { 0 };
	unsigned long n;
	const void *vdso = NULL;

	if (!variables(a))
		return false;
	n = sys_read_file("/proc/self/auxv", (char *)v, sizeof(v)) / sizeof(*v);
	for (unsigned long i = 0; i < n; i++) {
		if (v[i].a_type == AT_SECURE && v[i].a_un.a_val)
			return false;
		if (v[i].a_type == AT_SYSINFO_EHDR)
			vdso = (const void *)v[i].a_un.a_val;
		if (v[i].a_type == AT_PAGESZ)
			a->page_size = v[i].a_un.a_val;
		if (v[i].a_type == AT_PHDR)
			a->phdr = (const void *)v[i].a_un.a_val;
		if (v[i].a_type == AT_PHNUM)
			a->phdrs = (int)v[i].a_un.a_val;
		if (v[i].a_type == AT_RANDOM)
			a->stack = v[i].a_un.a_val;
	}
	a->filters = environment_filters(a->text);
	clock_find(a, vdso);
	sys3(__NR_clock_gettime, CLOCK_REALTIME_COARSE, (long)now, 0);
	a->started = now[0];
	return n;
}
