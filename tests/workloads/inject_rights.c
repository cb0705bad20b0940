/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* inject_rights MODE: a program that has CUDA at work, and then takes rights from itself.
 *
 *   filter   a seccomp filter that ends it at any system call that it does not need; 97 calls, one in a new thread
 *   fork     the same; then waits for a line, and forks a child that makes 13 calls
 *   at-once  the same, without a line
 *   load     the same; then loads another CUDA library, and makes a call
 *   early    the same before it loads CUDA
 *   user     becomes nobody; then waits for a line, and makes 13 calls, the first in a new thread */
#include <dlfcn.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int (*alloc)(void **, size_t);

static void calls(int n)
{
	void *p;

	while (n--)
		alloc(&p, 64);
}

static void *thread(void *arg)
{
	(void)arg;
	calls(1);
	return NULL;
}

/* What the C library needs for memory, threads, children, files and libraries. */
static const int allowed[] = {
	SYS_read, SYS_write, SYS_mmap, SYS_munmap, SYS_mprotect, SYS_brk, SYS_futex, SYS_clone, SYS_clone3, SYS_exit, SYS_exit_group,
	SYS_madvise, SYS_set_robust_list, SYS_rseq, SYS_rt_sigprocmask, SYS_nanosleep, SYS_clock_nanosleep, SYS_clock_gettime,
	SYS_fstat, SYS_newfstatat, SYS_getpid, SYS_gettid, SYS_rt_sigaction, SYS_set_tid_address, SYS_sched_getaffinity,
	SYS_openat, SYS_pread64, SYS_close, SYS_sched_yield, SYS_getrandom, SYS_wait4, SYS_prlimit64,
};
enum { N = sizeof(allowed) / sizeof(*allowed) };

static int restrict_calls(void)
{
	struct sock_filter f[2 * N + 2] = { BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)) };
	const struct sock_fprog program = { 2 * N + 2, f };

	for (int i = 0; i < N; i++) {
		f[2 * i + 1] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
		f[2 * i + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	f[2 * N + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	       syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program);
}

static int load(void)
{
	void *runtime = dlopen("libcudart.so.13", RTLD_NOW) ?: dlopen("libcudart.so.12", RTLD_NOW);

	alloc = runtime ? (int (*)(void **, size_t))dlsym(runtime, "cudaMalloc") : NULL;
	return !alloc;
}

static void wait_for_line(void)
{
	char c;

	while (read(0, &c, 1) == 1 && c != '\n')
		;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	int early = !strcmp(mode, "early"), status = 0;
	pthread_t t;
	pid_t child;

	if ((early && restrict_calls()) || load())
		return 1;
	calls(1);
	if (!strcmp(mode, "user")) {
		if (setgroups(0, NULL) || setgid(65534) || setuid(65534))
			return 1;
		wait_for_line();
		if (pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL))
			return 1;
		calls(12);
		return 0;
	}
	if (!early && restrict_calls())
		return 1;
	calls(97);
	if (pthread_create(&t, NULL, thread, NULL) || pthread_join(t, NULL))
		return 1;
	if (!strcmp(mode, "load")) {
		if (!dlmopen(LM_ID_NEWLM, "libcuda.so.1", RTLD_NOW))
			return 1;
		calls(1);
	}
	if (!strcmp(mode, "fork") || !strcmp(mode, "at-once")) {
		if (!strcmp(mode, "fork"))
			wait_for_line();
		child = fork();
		if (!child) {
			calls(13);
			_exit(0);
		}
		if (wait(&status) != child)
			return 1;
	}
	_exit(status ? 3 : 0);
}
