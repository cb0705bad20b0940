/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The stubs call this at a function's entry and return. */
#include <stddef.h>
#include "abi/lost.h"
#include "agent/inject/inject.h"
#include "machine/call.h"
#include "machine/regs_user.h"
#include "machine/stub_frame.h"

/* Return true if this call is from a signal handler that has interrupted a program of its thread: it is deeper in the same
 * stack.  If it is not, an earlier handler left by siglongjmp(). */
static bool interrupts(const struct stub_frame *f)
{
	return inject_here.busy && PT_REGS_SP(&f->regs) < inject_here.busy;
}

/* Only a stub that stores addresses has not looked yet whether its function is probed: struct stub's flags. */
static bool seen(struct injected *a, const struct stub *s)
{
	return !a->head->ended && (!s->gives || (s->in && !(a->toggle[s->function].flags & INJECT_OFF)));
}

/* For rare calls: the thread's first, the first after a library was loaded, those of a signal handler. */
static __attribute__((noinline, cold)) bool may_run(struct injected *a, const struct stub_frame *f)
{
	if (interrupts(f)) {
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
static void mark(struct stub_frame *f)
{
	*(volatile __u64 *)&f->mark = INJECT_STUB_MAGIC ^ PT_REGS_SP(&f->regs);
}

/* Runs the program.  Returns true if the return is wanted, and may be. */
static inline __attribute__((always_inline)) bool run(struct injected *a, struct stub_frame *f, const struct stub *s, bool may)
{
	bool wanted;

	__atomic_store_n(&inject_here.busy, PT_REGS_SP(&f->regs), __ATOMIC_RELAXED);
	inject_now.thread->busy = 1;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	inject_now.cookie = s->id;
	inject_now.func_ip = s->real;
	wanted = !inject_session(&f->regs) && may;
	if (wanted)
		mark(f);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	/* the tool, which waits for that, sees what the program has written */
	__atomic_store_n(&inject_now.thread->busy, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&inject_here.busy, 0, __ATOMIC_RELAXED);
	return wanted;
}

/* Return true if the call is part of one that counts.  That one may have ended by longjmp(). */
static inline __attribute__((always_inline)) bool is_part(const struct stub_frame *f, const struct stub *s)
{
	return inject_here.outermost && s->in->flags & INJECT_OUTERMOST && inject_armed(inject_here.outermost, PT_REGS_SP(&f->regs));
}

static inline __attribute__((always_inline)) bool enters(struct injected *a, struct stub_frame *f, const struct stub *s)
{
	if (!seen(a, s))
		return false;
	if (!LIKELY(!inject_here.busy && !a->changes && thread_is_ready(a) && !(inject_now.thread->marks & ~a->marks)) && !may_run(a, f))
		return false;
	if (is_part(f, s))
		return false;
	if (!run(a, f, s, s->in->flags & INJECT_RETURNS))
		return false;
	if (s->in->flags & INJECT_OUTERMOST)
		inject_here.outermost = PT_REGS_SP(&f->regs);
	else if (PT_REGS_SP(&f->regs) >= inject_here.outermost)	/* that one was left: its mark may be this stub's now */
		inject_here.outermost = 0;
	return true;
}

/* The number of words is a guess: it is limited by the end of the stack. */
static __attribute__((noinline, cold)) __u64 words_unsure(const struct stub_frame *f, const struct stub *s)
{
	__u64 from = PT_REGS_SP(&f->regs) + CALL_STACK, to = from + 8ull * s->words, page = to & -(__u64)SMALLEST_PAGE;

	if (from < page && page < to && !sys_readable((void *)page))
		return (page - from) / 8;
	return s->words;
}

struct entered inject_entered(struct stub_frame *f, const struct stub *s)
{
	struct injected *a = &injected;

	PT_REGS_IP(&f->regs) = s->real;
	*stub_why(f) = enters(a, f, s) ? FOR_PROGRAM : 0;
	if (s->gives)
		*stub_why(f) |= FOR_ADDRESS;
	return (struct entered){ s->real, *stub_why(f) ? 1 + (s->unsure ? words_unsure(f, s) : s->words) : 0 };
}

void inject_returned(struct stub_frame *f, const struct stub *s)
{
	struct injected *a = &injected;

	if (*stub_why(f) & FOR_ADDRESS)
		stub_address_given(a, f);
	if (!(*stub_why(f) & FOR_PROGRAM) || a->head->ended || !thread_is_ready(a) || interrupts(f))
		return;
	if (inject_here.outermost == PT_REGS_SP(&f->regs))
		inject_here.outermost = 0;
	stub_returned(f);
	run(a, f, s, false);
}
