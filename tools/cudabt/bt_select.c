/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "api/match.h"
#include "cudabt/bt_select.h"
#include "base/die.h"

static bool narrower(const struct cuda_value *a, const struct cuda_value *b)
{
	return a->kind == CUDA_KIND_UINT && b->kind == CUDA_KIND_UINT && a->size < b->size;
}

/* The driver's first functions take 32-bit sizes; nobody calls them any more. */
static bool is_first(const struct cuda_proto *p)
{
	char *name = xprintf("%s_v2", p->name);
	int id = cuda_proto_find(name);
	bool first = false;

	free(name);
	for (int i = 0; id >= 0 && i < p->nparams && i < cuda_protos[id].nparams; i++) {
		const struct cuda_param *a = &p->params[i], *b = &cuda_protos[id].params[i];

		first |= strstr(a->value.type, "_v1") || narrower(&a->value, &b->value) ||
			 narrower(&a->to, &b->to);
	}
	return first;
}

bool bt_select(const struct bt_item *item, const struct cuda_proto *p)
{
	return item->call != BT_PLAIN && match_name(p->name, item->s, item->len) && !is_first(p);
}

bool bt_select_nothing(const struct bt_item *item, struct bt_error *e)
{
	struct match_near near = { .name = item->s, .len = item->len };
	char text[MATCH_NEAR_TEXT];

	for (int id = 0; id < cuda_protos_n; id++)
		match_near_try(&near, cuda_protos[id].name, match_plain_length(cuda_protos[id].name));
	return bt_fail(e, item->s, "no CUDA function matches '%.*s'%s",
		       (int)(item->len < 80 ? item->len : 80), item->s,
		       match_near_text(&near, text, sizeof(text)));
}
