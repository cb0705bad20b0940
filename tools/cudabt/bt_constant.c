/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "cudabt/bt_constant.h"
#include "api/match.h"
#include "api/cuda_protos.h"

static bool begins(const struct bt_token *t, const char *with)
{
	return t->len > strlen(with) && !memcmp(t->s, with, strlen(with));
}

bool bt_is_constant(const struct bt_token *t)
{
	return begins(t, "CU_") || begins(t, "CUDA_") ||
	       (begins(t, "cuda") && t->s[4] >= 'A' && t->s[4] <= 'Z');
}

bool bt_constant(FILE *out, const struct bt_token *t, struct bt_error *e)
{
	struct match_near near = { .name = t->s, .len = t->len };
	const struct cuda_enumerator *c;
	char name[128], text[MATCH_NEAR_TEXT];
	long long value;

	snprintf(name, sizeof(name), "%.*s", (int)t->len, t->s);
	if (t->len < sizeof(name) && cuda_enumerator_find(name, &value)) {
		fprintf(out, "%lld", value);
		return true;
	}
	for (int i = 0; (c = cuda_enumerator(i)); i++)
		match_near_try(&near, c->name, strlen(c->name));
	return bt_fail(e, t->s, "no CUDA enum has '%s'%s", name,
		       match_near_text(&near, text, sizeof(text)));
}
