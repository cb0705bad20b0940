/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdlib.h>
#include <string.h>
#include "api/cuda_fn.h"

const struct cuda_fn cuda_fns[CUDA_ID_MAX] = {
#define CUDA_API(name, lib, class, ...) { #name, CUDA_##lib, CUDA_##class, { __VA_ARGS__ } },
#define CUDA_API_OLDER(name, major, ...) CUDA_API(name, __VA_ARGS__)
#define CUDA_API_USDT(provider, probe, class, ...) \
	{ #provider ":" #probe, CUDA_USDT, CUDA_##class, { __VA_ARGS__ } },
#include "cuda_api.def"
#undef CUDA_API_USDT
#undef CUDA_API_OLDER
#undef CUDA_API
};

static const unsigned short by_name[] = {
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
	const unsigned short *id = bsearch(name, by_name, sizeof(by_name) / sizeof(*by_name), sizeof(*by_name), compare_name);

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

/* The forms that older runtimes have, up to a major version. */
static const struct { int id, older, major; const char *name; } forms[] = {
#define CUDA_API(name, ...)
#define CUDA_API_OLDER(name, major, ...) { CUDA_ID_##name, CUDA_ID_##name##_##major, major, #name "@" #major },
#include "cuda_api.def"
#undef CUDA_API_OLDER
#undef CUDA_API
};
enum { FORMS = sizeof(forms) / sizeof(*forms) };
const int cuda_forms_n = FORMS;

int cuda_fn_form(int id, int major)
{
	for (int i = 0; i < FORMS; i++)
		if (forms[i].id == id && major && major <= forms[i].major)
			return forms[i].older;
	return id;
}

int cuda_fn_form_at(int i)
{
	return forms[i].older;
}

const char *cuda_fn_form_name(int id)
{
	for (int i = 0; i < FORMS; i++)
		if (forms[i].older == id)
			return forms[i].name;
	return NULL;
}

const char *cuda_direction_name(enum cuda_direction direction)
{
	static const char *const names[] = { NULL, "HtoD", "DtoH", "DtoD", "HtoH", "PtoP", "default" };

	return direction <= CUDA_DEFAULT ? names[direction] : NULL;
}
