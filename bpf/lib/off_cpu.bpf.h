/* SPDX-License-Identifier: GPL-2.0 */
/* How long a thread is off the CPU during its call in flight.  A tool that includes it has off_since, ran,
 * off_ns and delay in its struct thread_data, all 0 at first and reset by off_cpu_begin(), and a program at
 * tp_btf/sched_switch that calls off_cpu_switch().  Without such programs, it is the time in which the thread has not run. */
#ifndef LIB_OFF_CPU_BPF_H
#define LIB_OFF_CPU_BPF_H
#ifndef THREAD_DATA
#error "define THREAD_DATA before this: see lib/off_cpu.bpf.h"
#endif
#include "lib/cuda.bpf.h"

/* Call when the thread is on the CPU, or leaves it.  Its return to the CPU may be unreported, as some switches out of idle are
 * (seen on 6.18): so its run time since then is subtracted, which the kernel has up to the last tick. */
static __always_inline void off_cpu_back(struct thread *t, struct task_struct *task, __u64 now)
{
	__u64 away = now - t->data.off_since, on = task_ran(task) - t->data.ran;

	t->data.off_ns += on < away ? away - on : 0;
	t->data.off_since = 0;
}

/* Call at the entry of a call, if its time off the CPU is wanted … */
static __always_inline void off_cpu_begin(struct thread *t)
{
	t->data.off_since = t->data.off_ns = 0;
	t->data.delay = task_run_delay((void *)bpf_get_current_task());
	if (TASK_SWITCHES)
		return;
	t->data.off_since = t->call.start;
	t->data.ran = task_ran((void *)bpf_get_current_task());
}

/* … and at its return, which is now: returns how long it was off, at most ns. */
static __always_inline __u64 off_cpu_end(struct thread *t, __u64 now, __u64 ns)
{
	if (t->data.off_since)
		off_cpu_back(t, (void *)bpf_get_current_task(), now);
	return t->data.off_ns < ns ? t->data.off_ns : ns;
}

/* Call there, too, with what off_cpu_end() returned: returns how much of it the thread was runnable, and had no CPU. */
static __always_inline __u64 off_cpu_runnable(const struct thread *t, __u64 off)
{
	__u64 ns = task_run_delay((void *)bpf_get_current_task()) - t->data.delay;

	return ns < off ? ns : off;
}

/* Call at each switch of a CPU. */
static __always_inline void off_cpu_switch(struct task_struct *prev, struct task_struct *next)
{
	__u64 now = bpf_ktime_get_ns();
	struct thread *t;

	t = bpf_task_storage_get(&threads, prev, NULL, 0);
	if (t && t->call.sp) {
		if (t->data.off_since)
			off_cpu_back(t, prev, now);
		t->data.off_since = now;
		t->data.ran = task_ran(prev);
	}
	t = bpf_task_storage_get(&threads, next, NULL, 0);
	if (t && t->data.off_since)
		off_cpu_back(t, next, now);
}

#endif
