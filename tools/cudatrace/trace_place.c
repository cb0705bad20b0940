/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stddef.h>
#include <string.h>
#include "cudatrace/trace_place.h"

/* A call is not where the stream, pool or context is that it makes, nor in a context that it makes current. */
static struct cuda_args of_row(const struct cuda_fn *role)
{
	struct cuda_args where = role->args;
	unsigned char *const made[] = { &where.stream, &where.ctx, &where.pool };

	if (role->class == CUDA_CTX && where.stack != CUDA_KEEP && where.stack != CUDA_GONE)
		return (struct cuda_args){ 0 };
	for (int i = 0; i < 3 && where.out; i++)
		if (*made[i] == where.out)
			*made[i] = 0;
	return where;
}

static const struct { const char *type, *name; unsigned char at; size_t role; } types[] = {
#define X(role, type, name, at) { type, name, at, offsetof(struct cuda_args, role) },
	CUDA_ROLE_TYPES(X)
#undef X
};

static bool is_type(const char *type, const struct cuda_param *p, int i)
{
	return type && !strcmp(type, types[i].type) && (!*types[i].name || !strcmp(p->name, types[i].name));
}

static struct cuda_args of_types(const struct cuda_proto *proto)
{
	struct cuda_args where = { 0 };

	for (int n = 0; n < proto->nparams; n++) {
		const struct cuda_param *p = &proto->params[n];

		for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++) {
			unsigned char *role = (unsigned char *)&where + types[i].role;
			bool points = types[i].role == offsetof(struct cuda_args, location) && is_type(p->to.type, p, i);

			if (*role || p->out || strstr(p->name, "peer") || !(points || is_type(p->value.type, p, i)))
				continue;
			*role = p->place;
			if (points)
				where.location_at = types[i].at + 1;
		}
	}
	return where;
}

static bool is_placed(const struct cuda_args *where)
{
	return where->nowhere || where->anywhere || where->location || where->dev || where->pool || where->advice ||
	       where->direction == CUDA_PTOP;
}

void trace_place(struct trace_function *fn, struct cuda_args *where, const struct cuda_proto *proto,
		 const struct cuda_fn *role)
{
	*where = role ? of_row(role) : of_types(proto);
	fn->role = role ? 1 + (role - cuda_fns) : 0;
	fn->handle = where->stream ? where->stream : where->ctx;
	if (role && role->class == CUDA_LAUNCH && where->params && !where->count) {
		fn->handle = where->params;
		fn->handle_at = CUDA_CONFIG_STREAM;
	}
	if (is_placed(where))
		fn->flags |= TRACE_PLACED;
}
