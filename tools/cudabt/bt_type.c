/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "api/cuda_structs.h"
#include "cudabt/bt_type.h"

enum { MEMBERS = 300 };	/* bytes for their names */

const char *bt_type(const struct cuda_value *v, char *name, size_t size)
{
	const struct cuda_enum *e = v->kind == CUDA_KIND_ENUM ? cuda_enum_find(v->type) : NULL;
	bool is_signed = v->kind == CUDA_KIND_INT || v->kind == CUDA_KIND_ENUM;

	for (int i = 0; e && i < e->n; i++)
		if (e->enumerators[i].value > 0x7fffffff)	/* then its values are unsigned */
			is_signed = false;
	snprintf(name, size, "%sint%u", is_signed ? "" : "u", v->size * 8);
	return name;
}

bool bt_is_struct(const struct cuda_value *v)
{
	return v->kind == CUDA_KIND_STRUCT || v->kind == CUDA_KIND_DIM3;
}

struct cuda_value bt_type_target(const struct cuda_param *param)
{
	const char *type = param->value.type;
	const struct cuda_member *m;
	size_t len = strlen(type);
	char name[64];

	if (param->to.kind != CUDA_KIND_NONE || len < 3 || strcmp(type + len - 2, " *"))
		return param->to;
	snprintf(name, sizeof(name), "%.*s", (int)len - 2, type);
	m = cuda_struct_find(name);
	return m ? (struct cuda_value){ m->of, CUDA_KIND_STRUCT, 0 } : param->to;
}

/* "its members are x, y, z", or that they are unknown */
static const char *members(const struct cuda_value *v, char *text, size_t size)
{
	const struct cuda_member *m = cuda_struct_find(v->type);
	size_t len = 0;

	if (!m)
		return "its members are not known";
	for (; m && len < size - 60; m = cuda_struct_next(m))
		len += snprintf(text + len, size - len, "%s%s", len ? ", " : "its members are ", m->name);
	return text;
}

bool bt_type_member(struct cuda_value *v, unsigned *offset, const struct bt_token *name,
		    struct bt_error *e)
{
	const struct cuda_member *m = cuda_struct_find(v->type);
	char text[MEMBERS];

	while (m && !bt_is(name, m->name))
		m = cuda_struct_next(m);
	if (!m)
		return bt_fail(e, name->s, "%s has no member '%.*s': %s", v->type, (int)name->len,
			       name->s, members(v, text, sizeof(text)));
	*offset += m->offset;
	*v = m->value;
	return true;
}

bool bt_type_has_value(const struct cuda_value *v, const char *at, struct bt_error *e)
{
	char text[MEMBERS];

	if (v->kind == CUDA_KIND_FLOAT)
		return bt_fail(e, at, "this is a %s, and bpftrace has no floating point support", v->type);
	if (bt_is_struct(v))
		return bt_fail(e, at, "this is a %s: %s", v->type, members(v, text, sizeof(text)));
	if (v->kind == CUDA_KIND_NONE || (v->size & (v->size - 1)) || v->size < 1 || v->size > 8)
		return bt_fail(e, at, "pointer to an unknown type; use *(uint64 *)args.NAME to read "
			       "8 bytes");
	return true;
}
