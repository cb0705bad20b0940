/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The stubs call this at a function's entry and return. */
#include <stddef.h>
#include <linux/ptrace.h>
#include "abi/lost.h"
#include "inject/inject.h"

enum { PAGE = 4096 };

/* real: the function.  wanted: 0: jump there; else call it, with wanted - 1 words of arguments on the stack. */
struct entered { __u64 real, wanted; };

/* In struct pt_regs' last word: why the return is awaited. */
enum { FOR_PROGRAM = 1, FOR_ADDRESS = 2 };

struct entered inject_entered(struct pt_regs *regs, const struct stub *s);
void inject_returned(struct pt_regs *regs, const struct stub *s);

/* Return true if this call is from a signal handler that has interrupted a program of its thread: it is deeper in the same
 * stack.  If it is not, an earlier handler left by siglongjmp(). */
static bool interrupts(const struct pt_regs *regs)
{
	return inject_here.busy && regs->rsp <= inject_here.busy;
}

static bool seen(struct injected *a, const struct stub *s)
{
	return s->in && !a->head->ended && !(a->toggle[s->function].flags & INJECT_OFF);
}

/* For rare calls: the thread's first, the first after a library was loaded, those of a signal handler. */
static __attribute__((noinline, cold)) bool may_run(struct injected *a, const struct pt_regs *regs)
{
	if (interrupts(regs)) {
		lost_call(a, LOST_THREAD);
		return false;
	}
	if (!thread_is_ready(a) && !thread_ready(a))
		return false;
	if (inject_now.thread->marks & ~a->marks)
		marks_take(a);
	if (a->page->state == WITHDRAWN) {
		lost_call(a, LOST_WITHDRAWN);
		return false;
	}
	if (a->changes)
		changes_tell(a);
	return true;
}

/* Shows the programs that a call they remember has not returned (is_armed()): a signal handler may make calls as soon as the
 * thread is not busy. */
static void mark(const struct pt_regs *regs)
{
	*(volatile __u64 *)(regs->rsp - 16) = INJECT_STUB_MAGIC ^ regs->rsp;
}

/* Runs the program.  Returns true if the return is wanted, and may be. */
static inline __attribute__((always_inline)) bool run(struct injected *a, struct pt_regs *regs, const struct stub *s, bool may)
{
	bool wanted;

	__atomic_store_n(&inject_here.busy, regs->rsp, __ATOMIC_RELAXED);
	inject_now.thread->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	inject_now.cookie = s->id;
	inject_now.func_ip = s->real;
	wanted = !inject_session(regs) && may;
	if (wanted)
		mark(regs);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	inject_now.thread->busy = 0;
	__atomic_store_n(&inject_here.busy, 0, __ATOMIC_RELAXED);
	return wanted;
}

static inline __attribute__((always_inline)) bool enters(struct injected *a, struct pt_regs *regs, const struct stub *s)
{
	if (!seen(a, s))
		return false;
	if (!LIKELY(!inject_here.busy && !a->changes && thread_is_ready(a) && !(inject_now.thread->marks & ~a->marks)) && !may_run(a, regs))
		return false;
	return run(a, regs, s, s->in->flags & INJECT_RETURNS);
}

/* The number of words is a guess: it is limited by the end of the stack. */
static __attribute__((noinline, cold)) __u64 words_unsure(const struct pt_regs *regs, const struct stub *s)
{
	__u64 from = regs->rsp + 8, to = from + 8ull * s->words;

	if (from / PAGE != (to - 1) / PAGE && !sys_readable((void *)(to & -(__u64)PAGE)))
		return ((to & -(__u64)PAGE) - from) / 8;
	return s->words;
}

struct entered inject_entered(struct pt_regs *regs, const struct stub *s)
{
	struct injected *a = &injected;

	regs->rip = s->real;
	regs->ss = enters(a, regs, s) ? FOR_PROGRAM : 0;
	if (s->gives)
		regs->ss |= FOR_ADDRESS;
	return (struct entered){ s->real, regs->ss ? 1 + (s->unsure ? words_unsure(regs, s) : s->words) : 0 };
}

/* Replaces a function's address from cuGetProcAddress() and its like by that of its stub. */
static void address_given(const struct injected *a, const struct pt_regs *regs)
{
	__u64 *given = (__u64 *)regs->rsi;
	const void *stub = !(__u32)regs->rax && given && *given ? stub_of(a, *given) : NULL;

	if (stub)
		*given = (__u64)stub;
}

void inject_returned(struct pt_regs *regs, const struct stub *s)
{
	struct injected *a = &injected;

	if (regs->ss & FOR_ADDRESS)
		address_given(a, regs);
	if (!(regs->ss & FOR_PROGRAM) || a->head->ended || !thread_is_ready(a) || interrupts(regs))
		return;
	regs->rip = *(__u64 *)regs->rsp;
	regs->rsp += 8;
	run(a, regs, s, false);
}
