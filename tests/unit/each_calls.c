/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* In place of inject/TOOL.so, for tests/unit/each.c: the name of a program is a system call.  Answers that it returned, or
 * does not. */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>
#include "abi/agent_inject.h"

struct each { char *at; uint64_t size, used; };

static void call(const char *name)
{
	char word[8];
	struct iovec to = { word, sizeof(word) }, from = { word, sizeof(word) };
	char *const argv[] = { "true", NULL };

	if (!strcmp(name, "open"))
		open("/etc/passwd", O_RDONLY);
	else if (!strcmp(name, "socket"))
		socket(AF_UNIX, SOCK_STREAM, 0);
	else if (!strcmp(name, "connect"))
		connect(3, NULL, 0);
	else if (!strcmp(name, "ptrace"))
		ptrace(PTRACE_ATTACH, getppid(), 0, 0);
	else if (!strcmp(name, "process_vm_readv"))
		process_vm_readv(1, &to, 1, &from, 1, 0);
	else if (!strcmp(name, "kill"))
		syscall(SYS_kill, 1, 0);
	else if (!strcmp(name, "execve"))
		execv("/bin/true", argv);
	else if (!strcmp(name, "fork"))
		syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	else if (!strcmp(name, "setresuid"))
		syscall(SYS_setresuid, 0, 0, 0);
	else if (!strcmp(name, "executable"))
		mmap(NULL, 4096, PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	else if (!strcmp(name, "crash"))
		*(volatile int *)8 = 7;
	else if (!strcmp(name, "memory"))
		free(memset(malloc(1 << 20), 7, 1 << 20));
}

int inject_run(const struct inject_run *r, struct each *each);
int inject_run(const struct inject_run *r, struct each *each)
{
	call(r->program);
	memcpy(each->at, "returned", 8);
	each->used = 8;
	return 0;
}
