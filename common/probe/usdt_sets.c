/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include "abi/usdt.h"
#include "base/die.h"
#include "probe/probes.h"
#include "probe/usdt_sets.h"

struct usdt_sets {
	int map;		/* its descriptor, negative: there is none */
	unsigned n;
	bool said;
	struct usdt_args all[USDT_SETS];
};

static struct usdt_sets *sets_of(struct probes *p)
{
	if (!p->usdt_sets) {
		p->usdt_sets = xcalloc(1, sizeof(*p->usdt_sets));
		p->usdt_sets->map = bpf_object__find_map_fd_by_name(p->attacher.obj, "usdt_sets");
	}
	return p->usdt_sets;
}

static unsigned find(const struct usdt_sets *s, const struct usdt_args *args)
{
	unsigned i = 0;

	while (i < s->n && memcmp(&s->all[i], args, sizeof(*args)))
		i++;
	return i;
}

unsigned usdt_set_of(struct probes *p, const struct usdt_args *args)
{
	struct usdt_sets *s = sets_of(p);
	unsigned at = find(s, args);

	if (s->map < 0 || at < s->n)
		return s->map < 0 ? 0 : at + 1;
	if (at < USDT_SETS && !bpf_map_update_elem(s->map, &at, args, BPF_ANY)) {
		s->all[s->n++] = *args;
		return at + 1;
	}
	if (!s->said)
		warning(0, "too many USDT probes with arguments in different places: some are not placed");
	s->said = true;
	return 0;
}

void usdt_sets_free(struct probes *p)
{
	free(p->usdt_sets);
	p->usdt_sets = NULL;
}
