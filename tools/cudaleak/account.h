/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* The account of a process's memory: of what the memory of its devices consists, by the library that allocated it. */
#ifndef ACCOUNT_H
#define ACCOUNT_H

struct leak_view;
struct mem_process;
struct nvml;

/* Prints it, as text or JSON: at as in leak_view_process(), or "failure": an allocation has failed, of so many bytes (0: not
 * known) by this function.  NVML's part is left out if it does not answer. */
void account_print(const struct leak_view *view, const struct mem_process *process, struct nvml *nvml, const char *at);
void account_print_failure(const struct leak_view *view, const struct mem_process *process, struct nvml *nvml, const char *func,
			   unsigned long long size);

#endif
