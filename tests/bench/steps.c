/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* steps [-l] COMMAND [ARGUMENT]...: runs COMMAND, and counts the instructions of its first thread from each SIGUSR1 that it sends
 * itself to the next one, by single steps.  For each such pair prints how many are in the library of --attach inject, and how many
 * all are.  -l: prints the address in the library of each of them first.  "caller" sends these signals.
 *
 * It needs no counters of the processor, which virtual machines often lack, and no privilege.  The count is exact, and the same
 * each time if the program does the same: the processor's counter advances by one for each instruction, so that code that asks
 * how much time has passed finds none. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/step.h"

struct stepped {
	int pid;
	bool list, counts;
	unsigned long from, to;		/* of the library */
	unsigned long start;		/* the processor's counter at the first signal */
	unsigned long in, all;
};

static void find_library(struct stepped *s)
{
	unsigned long from, to;
	char path[64], line[4352];
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", s->pid);
	f = fopen(path, "re");
	while (f && fgets(line, sizeof(line), f)) {
		if (!strstr(line, "/inject/") || sscanf(line, "%lx-%lx", &from, &to) != 2)
			continue;
		if (!s->from)
			s->from = from;
		s->to = to;
	}
	if (f)
		fclose(f);
}

static void count(struct stepped *s)
{
	unsigned long pc = step_pc(s->pid);

	s->all++;
	if (pc < s->from || pc >= s->to)
		return;
	s->in++;
	if (s->list)
		printf("%lx\n", pc - s->from);
}

static void mark(struct stepped *s)
{
	siginfo_t info = { 0 };

	s->counts = !s->counts;
	if (!s->counts) {
		printf("%lu %lu\n", s->in, s->all);
		fflush(stdout);
		return;
	}
	ptrace(PTRACE_GETSIGINFO, s->pid, NULL, &info);
	s->start = (unsigned long)info.si_value.sival_ptr;
	s->in = s->all = 0;
	find_library(s);
}

/* Returns the signal that the program is to get. */
static int stopped(struct stepped *s, int sig)
{
	if (sig == SIGUSR1) {
		mark(s);
		return 0;
	}
	if (!s->counts)
		return sig == SIGTRAP ? 0 : sig;
	if (sig == SIGTRAP || (sig == SIGSEGV && step_counter_read(s->pid, s->start + s->all))) {
		count(s);
		return 0;
	}
	return sig;
}

int main(int argc, char **argv)
{
	struct stepped s = { .list = argc > 1 && !strcmp(argv[1], "-l") };
	int status, sig;

	argv += 1 + s.list;
	if (argc < 2 + s.list) {
		fprintf(stderr, "steps: usage: steps [-l] COMMAND [ARGUMENT]...\n");
		return 2;
	}
	s.pid = fork();
	if (!s.pid) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execvp(*argv, argv);
		perror(*argv);
		_exit(127);
	}
	while (waitpid(s.pid, &status, 0) == s.pid && WIFSTOPPED(status)) {
		sig = stopped(&s, WSTOPSIG(status));
		ptrace(s.counts ? PTRACE_SINGLESTEP : PTRACE_CONT, s.pid, NULL, sig);
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
