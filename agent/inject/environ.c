/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The program as the kernel describes it. */
#define _GNU_SOURCE
#include <stddef.h>
#include <time.h>
#include <fcntl.h>
#include <sys/stat.h>
#include "agent/inject/inject.h"
#include "base/timens.h"

enum { AUXV = 64 };	/* entries */

/* Returns the number at the end of the line that begins so; 0 if there is none. */
static __u32 environ_number(const char *text, const char *line)
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
	filters = environ_number(text, "Seccomp_filters:");
	return filters ?: environ_number(text, "Seccomp:") == 2;
}

void environment_time(struct injected *a)
{
	char text[256];
	unsigned long n = sys_read_file(TIMENS_OFFSETS, text, sizeof(text) - 1);
	struct stat own, children;
	__s64 ahead;

	text[n] = 0;
	ahead = timens_ahead(text);
	if (n && ahead != a->ahead && !sys4(__NR_newfstatat, AT_FDCWD, (long)TIMENS_OWN, (long)&own, 0) &&
	    !sys4(__NR_newfstatat, AT_FDCWD, (long)TIMENS_CHILDREN, (long)&children, 0) && own.st_ino == children.st_ino)
		a->ahead = ahead;
}

void environment_users(struct users *u)
{
	char map[USERS_FILE], overflow[USERS_FILE];

	map[sys_read_file(UID_MAP_FILE, map, sizeof(map) - 1)] = 0;
	overflow[sys_read_file(OVERFLOW_UID_FILE, overflow, sizeof(overflow) - 1)] = 0;
	u->mapped = users_all_mapped(map);
	u->overflow = users_overflow(overflow);
}

bool environment_process(struct injected *a, const void **vdso)
{
	ElfW(auxv_t) v[AUXV];
	__s64 now[2] = { 0 };
	unsigned long n;

	n = sys_read_file("/proc/thread-self/auxv", (char *)v, sizeof(v)) / sizeof(*v);
	for (unsigned long i = 0; i < n; i++) {
		if (v[i].a_type == AT_SECURE && v[i].a_un.a_val)
			return false;
		if (v[i].a_type == AT_SYSINFO_EHDR)
			*vdso = (const void *)v[i].a_un.a_val;
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
	environment_time(a);
	environment_users(&a->users);
	sys3(__NR_clock_gettime, CLOCK_REALTIME_COARSE, (long)now, 0);
	a->started = now[0];
	return n;
}
