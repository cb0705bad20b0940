/* SPDX-License-Identifier: GPL-2.0 */
/* arm64's thread pointer, as it was when the thread last left a CPU: arch/arm64/include/asm/processor.h. */
#ifndef MACHINE_THREAD_BPF_H
#define MACHINE_THREAD_BPF_H

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)
struct thread_struct { struct { unsigned long tp_value; } uw; };
#pragma clang attribute pop

/* A field of struct task_struct. */
#define THREAD_POINTER thread.uw.tp_value

#endif
