/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* A program whose user, root directory or children change: for tests/resident-hostile.t.
 * resident_hostile WORD ARGUMENT...; an argument that is not used is -:
 *   calls N      N calls of cudaMalloc(), each with cudaFree()
 *   for S        the same for S seconds; prints how long all slow ones took
 *   wait -       prints "ready", and reads a line
 *   chroot DIR   has another root directory from now on
 *   user UID     is another user from now on
 *   worker -     forks a child that becomes user 65534, tries to write to the memory of its parent's
 *                resident library, or of that name: $MEMORY, and prints the ways that worked
 *   fork S       forks a child that becomes user 65534 and makes calls for S seconds
 *   ask PID      plays a tool of $LIBRARY for 4 s: asks that process again and again to connect to
 *                $SOCKET
 *   alarm MS     has a signal in MS ms; 0: prints whether its handler ran in time */
#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "abi/agent_resident.h"

int cudaMalloc(void **p, size_t n);
int cudaFree(void *p);

enum { BYTES = 64, FILES = 64, SECONDS = 1000, SLOW = 100 };

static sigjmp_buf over;
static volatile double due, late;

static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

/* Returns how long it took, ms. */
static double call(void)
{
	double began = now_ms(), took;
	void *p;

	cudaMalloc(&p, BYTES);
	took = now_ms() - began;
	cudaFree(p);
	return took;
}

static void calls(long n)
{
	for (long i = 0; i < n; i++)
		call();
}

static void calls_for(double seconds)
{
	double end = now_ms() + seconds * SECONDS, waited = 0;

	while (now_ms() < end) {
		double took = call();

		waited += took > SLOW ? took : 0;
	}
	printf("waited %.0f ms\n", waited);
}

static void on_fault(int sig)
{
	siglongjmp(over, sig);
}

static void on_alarm(int sig)
{
	(void)sig;
	late = now_ms() - due;
}

/* What the memory is called. */
static const char *name(void)
{
	return getenv("MEMORY") ?: RESIDENT_NAME;
}

/* The library's mapping, which may not be writable. */
static struct resident_control *control(void)
{
	unsigned long at = 0;
	char line[512];
	FILE *f = fopen("/proc/self/maps", "r");

	while (f && !at && fgets(line, sizeof(line), f))
		if (strstr(line, name()))
			sscanf(line, "%lx", &at);
	if (f)
		fclose(f);
	return (void *)at;
}

/* A request that names a socket whose queue is full, or which is not there. */
static void request(struct resident_control *c)
{
	strcpy(c->object, "cudatrace");
	strcpy(c->socket, "cuda-bpf-tools-nobody");
	c->wanted = 1;
	__atomic_add_fetch(&c->generation, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&c->flags, 0, __ATOMIC_RELEASE);
}

static void attempt(const char *how, struct resident_control *c)
{
	if (!c || c == MAP_FAILED)
		return;
	if (!sigsetjmp(over, 1)) {
		request(c);
		printf(" %s", how);
	}
}

static struct resident_control *map(int fd)
{
	return mmap(NULL, RESIDENT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
}

static void worker_files(void)
{
	struct flock byte = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };

	for (int fd = 3; fd < FILES; fd++) {
		char path[64], link[128] = "";
		int again;

		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (readlink(path, link, sizeof(link) - 1) < 0 || !strstr(link, name()))
			continue;
		attempt("descriptor", map(fd));
		again = open(path, O_RDWR);
		attempt("reopened", again < 0 ? NULL : map(again));
		if (!fcntl(fd, F_SETLK, &byte) || (again >= 0 && !fcntl(again, F_OFD_SETLK, &byte)))
			printf(" locked");
	}
}

/* The parent goes on once all was tried. */
static void worker(void)
{
	static char buffer[BUFSIZ];
	int ready[2];
	char byte;

	/* In the child, locks of other threads stay held, and setuid(3) would wait for these threads. */
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	if (pipe(ready))
		exit(3);
	if (!syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) {
		struct resident_control *c = control();

		if (syscall(SYS_setgid, 65534) || syscall(SYS_setuid, 65534))
			_exit(3);
		prctl(PR_SET_PDEATHSIG, SIGKILL);	/* another user ends it */
		signal(SIGSEGV, on_fault);
		signal(SIGBUS, on_fault);
		printf("written:");
		attempt("mapping", c);
		if (c && !mprotect(c, RESIDENT_BYTES, PROT_READ | PROT_WRITE))
			attempt("protection", c);
		worker_files();
		printf(".\n");
		fflush(stdout);
		close(ready[1]);
		pause();
	}
	close(ready[1]);
	while (read(ready[0], &byte, 1) > 0)
		;
}

static void child(double seconds)
{
	if (fork())
		return;
	if (setgid(65534) || setuid(65534))
		_exit(3);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	calls_for(seconds);
	_exit(0);
}

static __u64 stamp_of(const char *file)
{
	int fd = open(file, O_RDONLY);
	off_t bytes = lseek(fd, 0, SEEK_END);
	char *p = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, fd, 0);
	const Elf64_Ehdr *h = (void *)p;
	const Elf64_Phdr *s = (void *)(p + h->e_phoff);
	__u64 stamp = 0;

	for (int i = 0; i < h->e_phnum; i++)
		if (s[i].p_type == PT_LOAD)
			stamp = resident_stamp_add(stamp, p + s[i].p_offset, s[i].p_filesz);
	return stamp;
}

static int control_of(const char *pid)
{
	char path[64], link[128];

	for (int fd = 3; fd < FILES; fd++) {
		memset(link, 0, sizeof(link));
		snprintf(path, sizeof(path), "/proc/%s/fd/%d", pid, fd);
		if (readlink(path, link, sizeof(link) - 1) > 0 && strstr(link, name()))
			return open(path, O_RDWR);
	}
	return -1;
}

static void ask(const char *pid)
{
	struct flock byte = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int fd = control_of(pid);
	struct resident_control *c = fd < 0 ? MAP_FAILED : map(fd);

	if (c == MAP_FAILED || fcntl(fd, F_OFD_SETLK, &byte))
		exit(3);
	c->stamp = stamp_of(getenv("LIBRARY"));
	for (double end = now_ms() + 4 * SECONDS; now_ms() < end; usleep(20000)) {
		request(c);
		strcpy(c->socket, getenv("SOCKET"));
	}
	c->wanted = 0;
}

static void alarm_in(long ms)
{
	const struct itimerval timer = { { 0, 0 }, { ms / 1000, ms % 1000 * 1000 } };

	signal(SIGALRM, on_alarm);
	due = now_ms() + ms;
	late = -1;
	setitimer(ITIMER_REAL, &timer, NULL);
}

static bool go_on(void)
{
	char line[64];

	puts("ready");
	fflush(stdout);
	return fgets(line, sizeof(line), stdin);
}

static void word(const char *is, const char *argument)
{
	if (!strcmp(is, "calls"))
		calls(atol(argument));
	else if (!strcmp(is, "for"))
		calls_for(atof(argument));
	else if (!strcmp(is, "chroot") && (chroot(argument) || chdir("/")))
		exit(3);
	else if (!strcmp(is, "user") && (setgid(atoi(argument)) || setuid(atoi(argument))))
		exit(3);
	else if (!strcmp(is, "worker"))
		worker();
	else if (!strcmp(is, "fork"))
		child(atof(argument));
	else if (!strcmp(is, "ask"))
		ask(argument);
	else if (!strcmp(is, "alarm") && atol(argument))
		alarm_in(atol(argument));
	else if (!strcmp(is, "alarm"))
		printf("alarm %s\n", late < 0 ? "never" : late < 2500 ? "soon" : "late");
	else if (!strcmp(is, "wait") && !go_on())
		exit(3);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i += 2)
		word(argv[i], i + 1 < argc ? argv[i + 1] : "");
	return 0;
}
