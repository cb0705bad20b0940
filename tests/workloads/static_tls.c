/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* static_tls WORD...: what a program has of its start, and what it can load later.
 *   calls N       calls cudaMalloc N times
 *   names         prints its arguments, comm, and GLIBC_TUNABLES
 *   open FILE     loads a library
 *   thread BYTES  a thread with a stack of that size
 *   use           writes a library's variable, with -DUSES
 *   exec WORD...  executes that
 *   only WORD...  the same, under a seccomp filter in which execve(2) fails
 * Built with -DBYTES=N it is a library with a variable in static TLS, with -DSHARED=N one with a
 * variable for programs, which does not require static TLS itself. */
#ifdef BYTES
static __thread char variable[BYTES] __attribute__((tls_model("initial-exec")));

static void __attribute__((constructor)) begin(void)
{
	for (int i = 0; i < BYTES; i++)
		((volatile char *)variable)[i]++;
}
#elif defined(SHARED)
__thread char shared_variable[SHARED];
#else
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/filter.h>
#include <linux/seccomp.h>

extern char **environ;
int cudaMalloc(void **p, unsigned long n);
#ifdef USES
extern __thread char shared_variable[USES];
#endif

static void *nothing(void *arg)
{
	return arg;
}

static void names(char **argv)
{
	char comm[32] = "";
	FILE *f = fopen("/proc/self/comm", "r");

	if (!f || !fgets(comm, sizeof(comm), f))
		exit(1);
	fclose(f);
	comm[strcspn(comm, "\n")] = 0;
	printf("comm %s, GLIBC_TUNABLES %s:", comm, getenv("GLIBC_TUNABLES") ?: "unset");
	for (; *argv; argv++)
		printf(" %s", *argv);
	puts("");
}

static void execute_only(char **argv)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_execve, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = { 4, filter };
	int fd = open(*argv, O_RDONLY | O_CLOEXEC);

	if (!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) &&
	    !prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		syscall(SYS_execveat, fd, "", argv, environ, 0x1000 /* AT_EMPTY_PATH */);
}

/* Return true if it is a word with a value. */
static bool word(const char *name, const char *value)
{
	pthread_attr_t a;
	pthread_t t;
	void *p;

	if (!strcmp(name, "calls")) {
		for (int i = atoi(value); i; i--)
			cudaMalloc(&p, 4096);
		printf("%s calls\n", value);
	} else if (!strcmp(name, "open")) {
		printf("%s\n", dlopen(value, RTLD_NOW) ? "loaded" : dlerror());
	} else if (!strcmp(name, "thread")) {
		pthread_attr_init(&a);
		pthread_attr_setstacksize(&a, strtoul(value, NULL, 0));
		if (pthread_create(&t, &a, nothing, NULL) || pthread_join(t, NULL))
			exit(1);
		puts("thread");
	} else {
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	for (char **w = argv + 1; w < argv + argc; w++) {
		if (!strcmp(*w, "names")) {
			names(argv);
		} else if (!strcmp(*w, "exec")) {
			fflush(stdout);
			execv(w[1], w + 1);
			return 1;
		} else if (!strcmp(*w, "only")) {
			execute_only(w + 1);
			return 1;
#ifdef USES
		} else if (!strcmp(*w, "use")) {
			memset(shared_variable, argc, sizeof(shared_variable));
#endif
		} else if (w[1] && word(*w, w[1])) {
			w++;
		}
	}
	return 0;
}
#endif
