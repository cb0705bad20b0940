/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <linux/bpf.h>
#include <bpf/libbpf.h>
#include "abi/bpf_names.h"
#include "abi/usdt.h"
#include "base/die.h"
#include "base/quota.h"
#include "bpf/map_backend.h"
#include "probe/probes.h"
#include "probe/usdt_sets.h"
#include "proc/user.h"

struct usdt_sets {
	const struct bpf_map *map;	/* NULL: there is none */
	unsigned n;
	struct quota quota;	/* one for each set */
	struct usdt_args all[USDT_SETS];
};

static struct usdt_sets *sets_of(struct probes *p)
{
	if (!p->usdt_sets) {
		p->usdt_sets = xcalloc(1, sizeof(*p->usdt_sets));
		p->usdt_sets->quota = (struct quota){ .limit = USDT_SETS, .what = "places of USDT arguments",
						      .loss = "further USDT probes are not placed" };
		p->usdt_sets->map = bpf_object__find_map_by_name(p->attacher.obj, MAP_USDT_SETS);
		if (!bmap_exists(p->usdt_sets->map))
			p->usdt_sets->map = NULL;
	}
	return p->usdt_sets;
}

static unsigned usdt_sets_find(const struct usdt_sets *s, const struct usdt_args *args)
{
	unsigned i = 0;

	while (i < s->n && memcmp(&s->all[i], args, sizeof(*args)))
		i++;
	return i;
}

unsigned usdt_set_of(struct probes *p, const struct usdt_args *args, int pid)
{
	struct usdt_sets *s = sets_of(p);
	unsigned at = usdt_sets_find(s, args);

	if (!s->map || at < s->n)
		return !s->map ? 0 : at + 1;
	if (!quota_take(&s->quota, pid ? proc_user(pid) : 0, pid, 1) ||
	    bmap_update(s->map, &at, args, BPF_ANY))
		return 0;
	s->all[s->n++] = *args;
	return at + 1;
}

void usdt_sets_free(struct probes *p)
{
	if (p->usdt_sets)
		quota_free(&p->usdt_sets->quota);
	free(p->usdt_sets);
	p->usdt_sets = NULL;
}
