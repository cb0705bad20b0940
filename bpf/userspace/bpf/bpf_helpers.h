/* SPDX-License-Identifier: GPL-2.0 */
/* What libbpf's header of this name has, for programs that run in the traced program: see inject/task.h.  Only the
 * helpers that bpf/lib calls. */
#ifndef INJECT_BPF_HELPERS_H
#define INJECT_BPF_HELPERS_H
#include <stddef.h>

#define SEC(name) __attribute__((section(name), used))
#undef __always_inline	/* of <linux/stddef.h> */
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define RARELY static __attribute__((noinline, cold))
#define __weak __attribute__((weak))
#define barrier() __asm__ volatile("" ::: "memory")
#define barrier_var(var) __asm__ volatile("" : "+r"(var))

/* A map's variable is a struct of pointers, of which the first is overwritten with its struct shmmap_map *. */
#define __uint(name, val) int (*name)[val]
#define __type(name, val) __typeof__(val) *name

#include "userspace/task.h"
#include "userspace/maps.h"
#include "userspace/read.h"

static inline __u64 bpf_ktime_get_ns(void)
{
	return inject_local.now = inject_clock_ns();
}

/* They are only compared. */
static inline __u64 bpf_jiffies64(void)
{
	return inject_now.shm->head->ticks;
}

static inline __u32 bpf_get_prandom_u32(void)
{
	return inject_random();
}

static inline struct task_struct *bpf_get_current_task_btf(void)
{
	return &inject_local.task;
}

static inline __u64 bpf_get_current_task(void)
{
	return (__u64)&inject_local.task;
}

static inline __u64 bpf_get_current_pid_tgid(void)
{
	return (__u64)inject_local.task.tgid << 32 | (__u32)inject_local.task.pid;
}

static inline __u64 bpf_get_current_uid_gid(void)
{
	return inject_local.task.uid;
}

static inline long bpf_get_current_comm(void *to, __u32 size)
{
	inject_copy(to, inject_comm(), size < 16 ? size : 16);
	return 0;
}

/* A thread has one of as many lanes as there may be CPUs. */
static inline __u32 bpf_get_smp_processor_id(void)
{
	return inject_local.task.lane;
}

static inline __u64 bpf_get_attach_cookie(const void *ctx)
{
	(void)ctx;
	return inject_now.cookie;
}

static inline __u64 bpf_get_func_ip(const void *ctx)
{
	(void)ctx;
	return inject_now.func_ip;
}

#define bpf_loop(n, fn, ctx, flags)						\
do {										\
	for (__u32 inject_i = 0; inject_i < (n) && !fn(inject_i, ctx); inject_i++)	\
		;								\
} while (0)

#endif
