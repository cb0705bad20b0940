/* SPDX-License-Identifier: GPL-2.0 */
/* Differences between the two back ends that run these programs: the kernel, and with --attach inject the traced program
 * (agent/bpf).  Nothing else asks for __bpf__ but what reads the kernel's data: lib/task.bpf.h, lib/unwind.bpf.h,
 * lib/call_samples.bpf.h and export.bpf.c.
 *
 *  GLOBAL_SUBPROG         a function that the verifier checks once, not at each call (Linux 5.6; with pointers as arguments
 *                         5.12).  It must return a number, and check its pointers for NULL, which no caller passes.
 *  NOINLINE_IN_USER       a function that the kernel inlines.  In programs, where a thread saves the registers that it may
 *                         change, and reads its code through the same cache, only those pay for it that call it.
 *  COLD_IN_USER           the same for a function that few calls need.
 *  SESSION_RETURNS_CHEAP  whether this is a call's return costs nothing to know.
 *  TASK_SWITCHES          a program at tp_btf/sched_switch sees the switches of CPUs; else task_ran() asks.
 *  LINKS_SHARED           one link may be in all processes (lib/watched.bpf.h); else the probes are the process's own.
 *  storage_show()         call it after a change of a task's storage.  The kernel has one; a program has its own in private
 *                         memory, with a copy in shared memory for readers.
 *  storage_shown(),       the same in two steps, for several parts: where that is in the copy, or NULL; and a part.
 *  storage_show_part()
 *  slot_state()           a slot's state.  In programs, threads on other CPUs have the same elements: the key is read after it.
 *  slot_is_own(),         this lane is only this thread's: its counts need no atomic operations, if user space clears them
 *  slot_add_own()         only after bmaps_settle(), or once nothing is counted under their key any more. */
#ifndef LIB_BACKEND_BPF_H
#define LIB_BACKEND_BPF_H

#define GLOBAL_SUBPROG __noinline

#ifdef __bpf__

#define NOINLINE_IN_USER static __always_inline
#define COLD_IN_USER static __always_inline
enum { SESSION_RETURNS_CHEAP = 0, TASK_SWITCHES = 1, LINKS_SHARED = 1 };
#define storage_show(map, task, at, size) ((void)(task))
#define storage_shown(map, task, at) ((void)(task), NULL)
#define storage_show_part(to, from, size) ((void)0)
#define slot_state(s) ((s)->state)
#define slot_is_own() false
#define slot_add_own(at, n) ((void)(n))

#else

#define NOINLINE_IN_USER static __attribute__((noinline))
#define COLD_IN_USER static __attribute__((noinline, cold))
enum { SESSION_RETURNS_CHEAP = 1, TASK_SWITCHES = 0, LINKS_SHARED = 0 };
#define storage_show inject_show
#define storage_shown inject_shown
#define storage_show_part inject_copy_words
#define slot_state(s) __atomic_load_n(&(s)->state, __ATOMIC_ACQUIRE)
#define slot_is_own() inject_self.task.own_slots
#define slot_add_own add_own

#endif
#endif
