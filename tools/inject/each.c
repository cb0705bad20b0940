/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* For the tool: a helper process of its own loads this library, too, and has programs run for threads that others have left
 * in the memory.  Nothing is bound there. */
#include <stddef.h>
#include "inject/inject.h"

/* Runs a program for each thread of the process, 0: of all, or for one of them, if tid is not 0.  Returns -1 if there is no such
 * program, or no memory. */
__attribute__((visibility("default")))
int inject_run(int memory, int fixed, __u64 bytes, const char *name, __u32 pid, __u32 tid, struct inject_each_call *each);

static const struct inject_program *find(const char *name)
{
	const struct inject_program *p = inject_programs;

	while (p->name && !same(p->name, name))
		p++;
	return p->name ? p : NULL;
}

static bool is_wanted(const struct inject_thread *t, __u32 pid, __u32 tid)
{
	__u32 is = t->tid;

	return is && !(is & INJECT_OF_PROCESS) && (!pid || t->pid == pid) && (!tid || is == tid);
}

int inject_run(int memory, int fixed, __u64 bytes, const char *name, __u32 pid, __u32 tid, struct inject_each_call *each)
{
	const struct inject_program *p = find(name);
	const int memories[INJECT_MEMORIES] = { [INJECT_SHARED] = memory, [INJECT_READ] = memory, [INJECT_FIXED] = fixed };
	struct shmmap *s = &injected.shm;

	if (!p || (!s->base && !memory_map(&injected, memories, bytes)))
		return -1;
	for (__u32 i = 0; i < s->head->threads_used && i < INJECT_THREADS; i++) {
		struct inject_thread *t = &s->threads[i];

		if (!is_wanted(t, pid, tid))
			continue;
		inject_now = (struct inject_now){ .shm = s, .thread = t, .other = true };
		p->run(each);
	}
	return 0;
}
