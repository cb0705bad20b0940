/* SPDX-License-Identifier: GPL-2.0 */
/* What libbpf's header of this name has, for programs that run in the traced program: see native/native.h.  Only the
 * helpers that bpf/lib calls. */
#ifndef NATIVE_BPF_HELPERS_H
#define NATIVE_BPF_HELPERS_H
#include <stddef.h>

#define SEC(name) __attribute__((section(name), used))
#undef __always_inline	/* of <linux/stddef.h> */
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))
#define RARELY static __attribute__((noinline, cold))
#define __weak __attribute__((weak))
#define barrier() __asm__ volatile("" ::: "memory")
#define barrier_var(var) __asm__ volatile("" : "+r"(var))

/* A map's variable is a struct of pointers, of which the first is overwritten with its struct shm_map *. */
#define __uint(name, val) int (*name)[val]
#define __type(name, val) __typeof__(val) *name

#include "native/native.h"
#include "native/maps.h"
#include "native/read.h"

static inline __u64 bpf_ktime_get_ns(void)
{
	return native.now = audit_clock_ns();
}

/* They are only compared. */
static inline __u64 bpf_jiffies64(void)
{
	return audit_now.shm->head->ticks;
}

static inline __u32 bpf_get_prandom_u32(void)
{
	return native_random();
}

static inline struct task_struct *bpf_get_current_task_btf(void)
{
	return &native.task;
}

static inline __u64 bpf_get_current_task(void)
{
	return (__u64)&native.task;
}

static inline __u64 bpf_get_current_pid_tgid(void)
{
	return (__u64)native.task.tgid << 32 | (__u32)native.task.pid;
}

static inline __u64 bpf_get_current_uid_gid(void)
{
	return native.task.uid;
}

static inline long bpf_get_current_comm(void *to, __u32 size)
{
	native_copy(to, native_comm(), size < 16 ? size : 16);
	return 0;
}

/* A thread has one of as many lanes as there may be CPUs. */
static inline __u32 bpf_get_smp_processor_id(void)
{
	return native.task.lane;
}

static inline __u64 bpf_get_attach_cookie(const void *ctx)
{
	(void)ctx;
	return audit_now.cookie;
}

static inline __u64 bpf_get_func_ip(const void *ctx)
{
	(void)ctx;
	return audit_now.func_ip;
}

#define bpf_loop(n, fn, ctx, flags)						\
do {										\
	for (__u32 native_i = 0; native_i < (n) && !fn(native_i, ctx); native_i++)	\
		;								\
} while (0)

#endif
