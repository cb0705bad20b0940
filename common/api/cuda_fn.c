/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "api/cuda_fn.h"

const struct cuda_fn cuda_fns[CUDA_ID_MAX] = {
#define CUDA_API(name, lib, class, ...) { #name, CUDA_##lib, CUDA_##class, { __VA_ARGS__ } },
#define CUDA_API_USDT(provider, probe, class, ...) \
	{ #provider ":" #probe, CUDA_USDT, CUDA_##class, { __VA_ARGS__ } },
#include "cuda_api.def"
#undef CUDA_API_USDT
#undef CUDA_API
};

static const unsigned short by_name[CUDA_ID_MAX] = {
#define CUDA_API_BY_NAME(name) CUDA_ID_##name,
#include "cuda_api.def"
#undef CUDA_API_BY_NAME
};

static int compare_name(const void *name, const void *id)
{
	return strcmp(name, cuda_fns[*(const unsigned short *)id].name);
}

static int find(const char *name)
{
	const unsigned short *id = bsearch(name, by_name, CUDA_ID_MAX, sizeof(*by_name), compare_name);

	return id ? *id : -1;
}

int cuda_fn_find(const char *name)
{
	return strncmp(name, "cu", 2) && strncmp(name, "__cuda", 6) && strncmp(name, "nccl", 4) &&
	       strncmp(name, "nvrtc", 5) ? -1 : find(name);
}

int cuda_usdt_find(const char *name)
{
	return strchr(name, ':') ? find(name) : -1;
}

const char *cuda_direction_name(enum cuda_direction direction)
{
	static const char *const names[] = { NULL, "HtoD", "DtoH", "DtoD", "HtoH", "PtoP", "default" };

	return direction <= CUDA_DEFAULT ? names[direction] : NULL;
}
