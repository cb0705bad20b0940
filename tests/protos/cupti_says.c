/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* cupti_says LIBCUPTI: prints what a libcupti answers to its first calls: scripts/check-cupti.  Each in a process of its own: without
 * a driver some crash. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "agent/gputime/cupti.h"

static void *library;

#define FIND(name) name##_fn *name = (name##_fn *)dlsym(library, #name)

static void says_version(void)
{
	FIND(cuptiGetVersion);
	uint32_t version = 0;
	enum cupti_result r = cuptiGetVersion(&version);

	printf(r ? "error %d" : "%2$u", r, version);
}

static void says_clock(void)
{
	FIND(cuptiGetTimestamp);
	struct timespec t;
	uint64_t ns = 0;
	enum cupti_result r = cuptiGetTimestamp(&ns);

	clock_gettime(CLOCK_REALTIME, &t);
	if (r)
		printf("error %d", r);
	else
		fputs(llabs((long long)t.tv_sec * 1000000000 + t.tv_nsec - (long long)ns) < 1000000000 ? "realtime" : "other", stdout);
}

static void says_enable(void)
{
	FIND(cuptiActivityEnable);

	printf("%d", cuptiActivityEnable(CUPTI_KIND_CONCURRENT_KERNEL));
}

static void says_callbacks(void)
{
	FIND(cuptiActivityRegisterCallbacks);

	printf("%d", cuptiActivityRegisterCallbacks((cupti_buffer_requested *)abort, (cupti_buffer_completed *)abort));
}

static void says_trace(void)
{
	FIND(cuptiActivityEnableHWTrace);

	if (cuptiActivityEnableHWTrace)
		printf("%d", cuptiActivityEnableHWTrace(1));
	else
		putchar('-');
}

static void ask(const char *what, void (*question)(void))
{
	pid_t pid;
	int status;

	printf("%s ", what);
	fflush(stdout);
	pid = fork();
	if (!pid) {
		question();
		fflush(stdout);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		fputs("crashes", stdout);
}

int main(int argc, char **argv)
{
	library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : NULL;
	if (!library) {
		printf("%s\n", argc == 2 ? dlerror() : "LIBCUPTI is missing");
		return 1;
	}
#define HAS(name, since, params) \
	if (since == 1108 && !dlsym(library, #name)) { \
		puts("no " #name); \
		return 1; \
	}
	CUPTI_FUNCTIONS(HAS)
	ask("version", says_version);
	ask(", clock", says_clock);
	ask(", callbacks", says_callbacks);
	ask(", enable", says_enable);
	ask(", hw trace", says_trace);
	putchar('\n');
	return 0;
}
