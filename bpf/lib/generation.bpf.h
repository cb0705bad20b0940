/* SPDX-License-Identifier: GPL-2.0 */
/* Which of a process's links count, if it has several generations of them: probe/bindings.h. */
#ifndef LIB_GENERATION_BPF_H
#define LIB_GENERATION_BPF_H
#include "abi/bpf_names.h"
#include "lib/watched.bpf.h"

/* The generation that counts, by process id, where it is not the first. */
BPF_HASH(link_generations, __u32, __u32, GENERATION_PROCESSES)

/* Set by the tool at any time: how many processes are in the map. */
volatile __u32 link_renewed SEC(SECTION_LINK_RENEWED);

COLD_IN_USER bool generation_counts(__u32 generation)
{
	__u32 pid = thread_pid();
	const __u32 *now = bpf_map_lookup_elem(&link_generations, &pid);

	return generation == (now ? *now : GENERATION_FIRST);
}

/* Return true if the program is to run here for this link.  Call at entries: a call that an older
 * link has seen begin may end at it. */
static __always_inline bool link_counts(void *ctx)
{
	__u64 cookie;
	__u32 generation;

	if (!LINKS_SHARED)
		return true;
	cookie = bpf_get_attach_cookie(ctx);
	generation = cookie >> COOKIE_GENERATION_SHIFT;
	if (generation && (generation != GENERATION_FIRST || link_renewed) &&
	    !generation_counts(generation))
		return false;
	return shared_link_counts(cookie);
}

#endif
