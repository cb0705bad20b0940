/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Compiled in several ways. */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include "cfi.h"

#define NOINLINE __attribute__((noinline, noclone))

typedef void (*leaf_fn)(struct cfi_count *);

static long chain(int depth, leaf_fn leaf, struct cfi_count *count, unsigned long a,
			   unsigned long b, unsigned long c);

/* No recursion that the compiler sees. */
static long (*volatile chained)(int depth, leaf_fn leaf, struct cfi_count *count, unsigned long a,
				unsigned long b, unsigned long c) = chain;

/* Keeps values in the registers that functions preserve. */
static NOINLINE long chain(int depth, leaf_fn leaf, struct cfi_count *count, unsigned long a,
			   unsigned long b, unsigned long c)
{
	if (!depth) {
		leaf(count);
		return a ^ b;
	}
	a += chained(depth - 1, leaf, count, b, c, a * depth) * 3;
	return a + b * c;
}

static NOINLINE void deep(struct cfi_count *count)
{
	if (chain(23, cfi_compare_here, count, 1, 2, 3) == 4711)
		abort();
}

static NOINLINE void on_alloca(struct cfi_count *count)
{
	volatile char *room = alloca(count->wrong + 101);

	room[0] = 1;
	cfi_compare_here(count);
	room[1] = room[0];
}

/* Arguments on the stack, and locals that must be aligned more than it is: the frame has a pointer to
 * its arguments. */
static NOINLINE double on_aligned(struct cfi_count *count, int n, int a, int b, int c, int d, int e,
				  int f)
{
	volatile double room[8] __attribute__((aligned(64)));
	volatile char *more = alloca(n + 7);

	for (int i = 0; i < 8; i++)
		room[i] = i * a - f;
	more[0] = b + c + d;
	cfi_compare_here(count);
	return room[3] + e + more[0];
}

static NOINLINE void aligned(struct cfi_count *count)
{
	if (on_aligned(count, 13, 1, 2, 3, 4, 5, 6) == 4711)
		abort();
}

static struct cfi_count *counting;

static void on_signal(int sig)
{
	(void)sig;
	cfi_compare_here(counting);
}

static NOINLINE void raising(struct cfi_count *count)
{
	struct sigaction action = { .sa_handler = on_signal };

	counting = count;
	sigaction(SIGUSR1, &action, NULL);
	raise(SIGUSR1);
}

static NOINLINE void raising_elsewhere(struct cfi_count *count)
{
	struct sigaction action = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK };
	stack_t stack = { .ss_sp = malloc(1 << 18), .ss_size = 1 << 18 };

	counting = count;
	sigaltstack(&stack, NULL);
	sigaction(SIGUSR2, &action, NULL);
	raise(SIGUSR2);
	stack.ss_flags = SS_DISABLE;
	sigaltstack(&stack, NULL);
	free(stack.ss_sp);
}

static int by_value(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	if (counting)
		cfi_compare_here(counting);
	return (x > y) - (x < y);
}

static NOINLINE void sorting(struct cfi_count *count)
{
	int numbers[7] = { 5, 3, 7, 1, 2, 11, 13 };

	counting = count;
	qsort(numbers, 7, sizeof(*numbers), by_value);
	counting = NULL;
}

static void *in_thread(void *count)
{
	deep(count);
	return NULL;
}

static NOINLINE void threading(struct cfi_count *count)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, in_thread, count) || pthread_join(thread, NULL))
		abort();
}

static NOINLINE void in_register(struct cfi_count *count)
{
	cfi_asm_register(deep, count);
}

static NOINLINE void on_other_stack(struct cfi_count *count)
{
	cfi_asm_stack(deep, count);
}

static NOINLINE void in_expression(struct cfi_count *count)
{
	cfi_asm_expression(deep, count);
}

/* What is stepped through: it compares nothing itself. */
static NOINLINE void nothing(struct cfi_count *count)
{
	(void)count;
	__asm__ volatile("" ::: "memory");
}

static NOINLINE void stepped(struct cfi_count *count)
{
	char text[64];

	chained(3, nothing, count, 5, 6, 7);
	cfi_asm_register(nothing, count);
	cfi_asm_stack(nothing, count);
	cfi_asm_expression(nothing, count);
	counting = NULL;
	sorting(NULL);
	/* by way of the PLT, and of the dynamic linker, as nothing has called it before */
	if (snprintf(text, sizeof(text), "%d %s", 23, strerrorname_np(2)) < 5)
		abort();
}

static void run(const char *name, leaf_fn fn, bool step)
{
	struct cfi_count count = { 0 };

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (step)
		cfi_compare_stepping(&count, fn, NULL);
	else
		fn(&count);
	printf("%s: stacks %lu complete %lu frames %lu most %lu simple %lu signals %lu wrong %lu\n", name,
	       count.stacks, count.complete, count.frames, count.most, count.simple, count.signals,
	       count.wrong);
}

void cfi_cases(void)
{
	run("deep", deep, false);
	run("alloca", on_alloca, false);
	run("aligned", aligned, false);
	run("signal", raising, false);
	run("altstack", raising_elsewhere, false);
	run("qsort", sorting, false);
	run("thread", threading, false);
	run("register", in_register, false);
	run("stack", on_other_stack, false);
	run("expression", in_expression, false);
	if (cfi_steps())
		run("stepping", stepped, true);
}
