/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stddef.h>
#include "api/nccl.h"

static const struct { const char *name; unsigned size; } types[] = {
	{ "i8", 1 }, { "u8", 1 }, { "i32", 4 }, { "u32", 4 }, { "i64", 8 }, { "u64", 8 }, { "f16", 2 }, { "f32", 4 }, { "f64", 8 },
	{ "bf16", 2 }, { "f8e4m3", 1 }, { "f8e5m2", 1 },
};

enum { TYPES = sizeof(types) / sizeof(*types) };

const char *nccl_type_name(unsigned type)
{
	return type < TYPES ? types[type].name : NULL;
}

unsigned nccl_type_size(unsigned type)
{
	return type < TYPES ? types[type].size : 0;
}

const char *nccl_operator_name(unsigned op)
{
	static const char *const names[] = { "sum", "prod", "max", "min", "avg" };

	return op < sizeof(names) / sizeof(*names) ? names[op] : "custom";
}
