/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "cudabt/bt_args.h"

/* .NAME or ->NAME at p */
static bool member_follows(const char *p, const char *end, struct bt_token *name)
{
	struct bt_error ignored = {};

	return bt_next_word(p, end, name, &ignored) && (bt_is(name, ".") || bt_is(name, "->")) &&
	       bt_next_word(name->s + name->len, end, name, &ignored) && name->kind == BT_WORD;
}

static const struct cuda_param *param_of(const struct cuda_proto *proto, const struct bt_token *name)
{
	for (int i = 0; i < proto->nparams; i++)
		if (bt_is(name, proto->params[i].name))
			return &proto->params[i];
	return NULL;
}

static enum bt_outcome lacks(const struct cuda_proto *proto, const struct bt_token *name,
			     struct bt_error *e)
{
	char list[250] = "";
	size_t len = 0;

	for (int i = 0; i < proto->nparams && len < sizeof(list) - 60; i++)
		len += snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
				proto->params[i].name);
	bt_fail(e, name->s, "%s has no argument '%.*s'%s%s", proto->name,
		(int)(name->len < 60 ? name->len : 60), name->s,
		len ? "; its arguments are " : "; it takes none", list);
	return BT_LACKS;
}

enum bt_outcome bt_argument(FILE *out, struct bt_frame *f, const struct cuda_proto *proto, enum bt_how how,
			    const char **p, const char *end, const char **type, struct bt_error *e)
{
	const struct cuda_param *param;
	struct bt_token name;

	if (!member_follows(*p, end, &name)) {
		bt_fail(e, *p - strlen("args"), "expected an argument name: args.NAME");
		return BT_FAILED;
	}
	param = param_of(proto, &name);
	if (!param)
		return lacks(proto, &name, e);
	*p = name.s + name.len;
	return bt_value(out, f, param, how, p, end, type, e) ? BT_DONE : BT_FAILED;
}

/* args.NAME after a star is dereferenced: nobody multiplies by an address. */
bool bt_is_target(const struct cuda_proto *proto, const struct bt_token *star, const char *end,
		  struct bt_token *args)
{
	const struct cuda_param *param;
	struct bt_error ignored = {};
	struct bt_token name;

	if (!bt_next_word(star->s + 1, end, args, &ignored) || !bt_is(args, "args") ||
	    !member_follows(args->s + args->len, end, &name))
		return false;
	param = param_of(proto, &name);
	return param && param->value.kind == CUDA_KIND_PTR;
}
