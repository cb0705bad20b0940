/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject: what must be as it is without a tool.  The output is to be compared. */
#include <dirent.h>
#include <errno.h>
#include <fenv.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject.h"
#include "cuda_api.h"

static void aligned(void *data)
{
	*(unsigned *)data = (unsigned)((uintptr_t)__builtin_frame_address(0) & 15);
}

static unsigned long mask(void)
{
	unsigned long bits = 0;
	sigset_t set;
	int i;

	sigprocmask(SIG_BLOCK, NULL, &set);
	for (i = 1; i < 64; i++)
		bits |= sigismember(&set, i) == 1 ? 1UL << i : 0;
	return bits;
}

/* Which signals have a handler or are ignored. */
static unsigned long handled(void)
{
	struct sigaction action;
	unsigned long bits = 0;
	int i;

	for (i = 1; i < 64; i++)
		if (!sigaction(i, NULL, &action) && action.sa_handler != SIG_DFL)
			bits |= 1UL << i;
	return bits;
}

int part_same(int argc, char **argv)
{
	unsigned alignment = 99;
	union { femode_t as; unsigned char bytes[sizeof(femode_t)]; } modes = { .bytes = { 0 } };
	struct rlimit limit;
	sigset_t some;
	void *p;
	int i, n = inject_count(argc, argv);

	sigemptyset(&some);
	sigaddset(&some, SIGUSR2);
	sigprocmask(SIG_BLOCK, &some, NULL);
	signal(SIGUSR1, SIG_IGN);
	fesetround(FE_UPWARD);
	cudaFree(NULL);
	for (i = 0; i < n; i++) {
		errno = 4711 + i;
		cudaMalloc(&p, 64);
		printf("errno %d ", errno);
		errno = 4711;
		cudaMalloc(&p, (size_t)1 << 50);
		printf("and %d, error %d\n", errno, (int)cudaGetLastError());
	}
	cudaLaunchHostFunc(NULL, aligned, &alignment);
	feclearexcept(FE_ALL_EXCEPT);
	fegetmode(&modes.as);
	printf("alignment %u, rounding %d, modes", alignment, fegetround());
	for (i = 0; i < (int)sizeof(modes.bytes); i++)
		printf(" %02x", modes.bytes[i]);
	putchar('\n');
	getrlimit(RLIMIT_NOFILE, &limit);
	printf("signals blocked %lx, handled %lx; files %llu\n", mask(), handled(), (unsigned long long)limit.rlim_cur);
	printf("children %d\n", (int)wait(NULL));
	return 43;
}

int part_fds(int argc, char **argv)
{
	char path[64], to[256];
	struct dirent *entry;
	ssize_t length;
	DIR *dir;

	inject_allocate(inject_count(argc, argv));
	printf("next %d\n", dup(0));
	dir = opendir("/proc/self/fd");
	while (dir && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%.20s", entry->d_name);
		length = readlink(path, to, sizeof(to) - 1);
		if (length <= 0 || atoi(entry->d_name) == dirfd(dir))
			continue;
		to[length] = 0;
		/* what it is, but not which */
		printf("%s %.*s\n", entry->d_name, to[0] == '/' && strncmp(to, "/dev/", 5) ? 1 : (int)strcspn(to, ":["), to);
	}
	return 0;
}

int part_environ(int argc, char **argv)
{
	static const char *const linkers[] = {
		"LD_AUDIT=", "GLIBC_TUNABLES=", "CUDA_BPF_TOOLS_INJECT=", NULL
	};
	char **word;

	inject_allocate(inject_count(argc, argv));
	for (word = environ; *word; word++) {
		int i = 0;

		while (linkers[i] && strncmp(*word, linkers[i], strlen(linkers[i])))
			i++;
		if (!linkers[i])
			puts(*word);
	}
	return 0;
}
