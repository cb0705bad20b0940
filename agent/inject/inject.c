/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Called by the dynamic linker, and by the tool's helper process. */
#define _GNU_SOURCE
#include "agent/inject/inject.h"

struct injected injected;
__thread struct inject_here inject_here;
__thread struct inject_now inject_now;

/* The interface has not changed in what is used here; without a tool, the linker drops the library. */
EXPORTED unsigned la_version(unsigned version)
{
	return environment(&injected) ? version : 0;
}

/* No object is audited: the linker reports no bindings. */
EXPORTED unsigned la_objopen(struct link_map *map, Lmid_t lmid, uintptr_t *cookie)
{
	*cookie = (uintptr_t)map;
	static_tls_note(&injected, map);
	changes_note(&injected, map->l_name);
	if (injected.connection != REFUSED)
		bind_object(&injected, map);
	return 0;
}

EXPORTED void la_preinit(uintptr_t *cookie)
{
	static_tls_started(&injected, (const struct link_map *)*cookie);
}

EXPORTED void la_activity(uintptr_t *cookie, unsigned flag)
{
	if (flag == LA_ACT_CONSISTENT && injected.connection == CONNECTED)
		changes_tell_loaded(&injected);
}

EXPORTED unsigned la_objclose(uintptr_t *cookie)
{
	stubs_close(&injected, *cookie);
	injected.changes = true;
	return 0;
}

/* ---- for the tool: a helper process of its own loads this library, too, and runs programs for threads whose elements are in
 * the memory.  Nothing is bound there. */

/* Runs a program for each wanted thread.  Returns -1 if there is no such program, or no memory. */
EXPORTED
int inject_run(const struct inject_run *r, struct inject_each_call *each);

static bool is_wanted(const struct inject_thread *t, __u32 pid, __u32 tid)
{
	__u32 is = __atomic_load_n(&t->tid, __ATOMIC_ACQUIRE);

	return is && !(is & INJECT_OF_PROCESS) && (!pid || t->pid == pid) && (!tid || is == tid);
}

int inject_run(const struct inject_run *r, struct inject_each_call *each)
{
	program_fn *run = program_find(r->program);
	const int memories[INJECT_MEMORIES] = {
		[INJECT_SHARED] = r->memory, [INJECT_READ] = r->memory, [INJECT_FIXED] = r->fixed,
	};
	static char rest[INJECT_REST] __attribute__((aligned(8)));
	struct shmmap *s = &injected.shm;

	if (!run || (!s->base && !memory_map(&injected, memories, r->bytes)))
		return -1;
	for (__u32 i = 0; i < s->head->threads_used && i < INJECT_THREADS; i++) {
		struct inject_thread *t = &s->threads[i];

		if (!is_wanted(t, r->pid, r->tid))
			continue;
		inject_now = (struct inject_now){
			.shm = s, .thread = t, .own = rest + sizeof(rest), .other = true,
		};
		run(each);
	}
	return 0;
}
