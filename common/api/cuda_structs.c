/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "api/cuda_structs.h"

static const struct cuda_member members[] = {
#define X(of, name, kind, type, at, size) { #of, #name, at, { type, CUDA_KIND_##kind, size } },
	CUDA_STRUCTS(X)
#undef X
};
enum { MEMBERS = sizeof(members) / sizeof(*members) };

const struct cuda_member *cuda_struct_find(const char *type)
{
	if (!strncmp(type, "struct ", 7))
		type += 7;
	for (int i = 0; i < MEMBERS; i++)
		if (!strcmp(members[i].of, type))
			return &members[i];
	return NULL;
}

const struct cuda_member *cuda_struct_next(const struct cuda_member *m)
{
	return m + 1 < members + MEMBERS && !strcmp(m[1].of, m->of) ? m + 1 : NULL;
}

unsigned cuda_struct_size(const char *type)
{
	const struct cuda_member *m = cuda_struct_find(type);
	unsigned size = 0;

	for (; m; m = cuda_struct_next(m))
		size = m->offset + m->value.size;
	return size;
}
