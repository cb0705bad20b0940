/* SPDX-License-Identifier: GPL-2.0 */
/* x86-64's thread pointer, as the kernel keeps it: arch/x86/include/asm/processor.h. */
#ifndef MACHINE_THREAD_BPF_H
#define MACHINE_THREAD_BPF_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct thread_struct { unsigned long fsbase; };
#pragma clang attribute pop

/* A field of struct task_struct. */
#define THREAD_POINTER thread.fsbase

#endif
