/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* For the tool: a helper process of its own loads this library, too, and has programs run for threads that others have left
 * in the memory.  Nothing is bound there. */
#include <stddef.h>
#include "audit/audit.h"

/* Runs a program for each thread of the process, 0: of all, or for one of them, if tid is not 0.  Returns -1 if there is no such
 * program, or no memory. */
__attribute__((visibility("default")))
int audit_run(int memory, int fixed, __u64 bytes, const char *name, __u32 pid, __u32 tid, struct audit_each *each);

static const struct audit_program *find(const char *name)
{
	const struct audit_program *p = audit_programs;

	while (p->name && !same(p->name, name))
		p++;
	return p->name ? p : NULL;
}

static bool is_wanted(const struct audit_thread *t, __u32 pid, __u32 tid)
{
	__u32 is = t->tid;

	return is && !(is & AUDIT_OF_PROCESS) && (!pid || t->pid == pid) && (!tid || is == tid);
}

int audit_run(int memory, int fixed, __u64 bytes, const char *name, __u32 pid, __u32 tid, struct audit_each *each)
{
	const struct audit_program *p = find(name);
	const int memories[AUDIT_MEMORIES] = { [AUDIT_SHARED] = memory, [AUDIT_READ] = memory, [AUDIT_FIXED] = fixed };
	struct shm *s = &audit.shm;

	if (!p || (!s->base && !memory_map(&audit, memories, bytes)))
		return -1;
	for (__u32 i = 0; i < s->head->threads_used && i < AUDIT_THREADS; i++) {
		struct audit_thread *t = &s->threads[i];

		if (!is_wanted(t, pid, tid))
			continue;
		audit_now = (struct audit_now){ .shm = s, .thread = t, .other = true };
		p->run(each);
	}
	return 0;
}
