/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "api/cuda_protos.h"
#include "machine/call.h"

#define ARRAY_SIZE(a) (int)(sizeof(a) / sizeof(*(a)))

#define VALUE(type, kind, size) { type, CUDA_KIND_##kind, size }
#define PARAM(name, value, place, by_reference, out, to) { name, value, place, by_reference, out, to }
#define CUDA_PARAMS(n, ...) static const struct cuda_param params_##n[] = { __VA_ARGS__ };
#include "cuda_protos.def"
#undef CUDA_PARAMS
#define params_0 NULL	/* a function without parameters */
#define PROTO(name, lib, group, since, until, result, n, params)	\
	{ #name, CUDA_##lib, group, result, n, params_##params, since, until },

const struct cuda_proto cuda_protos[] = {
#define CUDA_PROTO PROTO
#include "cuda_protos.def"
#undef CUDA_PROTO
};
const int cuda_protos_n = ARRAY_SIZE(cuda_protos);

static const struct cuda_proto older[] = {
#define CUDA_OLDER PROTO
#include "cuda_protos.def"
#undef CUDA_OLDER
	{ 0 }
};

static const struct cuda_enumerator enumerators[] = {
#define CUDA_VALUE(name, value) { #name, value },
#include "cuda_protos.def"
#undef CUDA_VALUE
};

static const struct cuda_enum enums[] = {
#define CUDA_ENUM(tag, first, n) { #tag, n, &enumerators[first] },
#include "cuda_protos.def"
#undef CUDA_ENUM
};

static const struct enum_type {
	const char *name;
	const struct cuda_enum *e;
} enum_types[] = {
#define CUDA_ENUM_TYPE(name, which) { #name, &enums[which] },
#include "cuda_protos.def"
#undef CUDA_ENUM_TYPE
};

static int compare_proto(const void *name, const void *proto)
{
	return strcmp(name, ((const struct cuda_proto *)proto)->name);
}

int cuda_proto_find(const char *symbol)
{
	const struct cuda_proto *p;

	if (strncmp(symbol, "cu", 2) && strncmp(symbol, "__cuda", 6) && strncmp(symbol, "nccl", 4) &&
	    strncmp(symbol, "nvrtc", 5))
		return -1;
	p = bsearch(symbol, cuda_protos, cuda_protos_n, sizeof(*p), compare_proto);
	return p ? p - cuda_protos : -1;
}

const struct cuda_proto *cuda_proto_in(int id, int version)
{
	const struct cuda_proto *p = &cuda_protos[id];

	if (version >= p->since)
		return p;
	for (const struct cuda_proto *o = older; o->name; o++)
		if (version >= o->since && version <= o->until && !strcmp(o->name, p->name))
			return o;
	return p;
}

static int words(const struct cuda_proto *p)
{
	int most = 0;

	for (int i = 0; i < p->nparams; i++) {
		int end = p->params[i].place - 1 - CALL_REGISTERS + cuda_param_words(&p->params[i]);

		if (p->params[i].place > CALL_REGISTERS && end > most)
			most = end;
	}
	return most;
}

int cuda_proto_words(const char *symbol)
{
	int id = cuda_proto_find(symbol), most;

	if (id < 0 || !strcmp(cuda_protos[id].result.type, "?"))
		return -1;
	most = words(&cuda_protos[id]);
	for (const struct cuda_proto *o = older; o->name; o++)
		if (!strcmp(o->name, symbol) && words(o) > most)
			most = words(o);
	return most;
}

static const char *const chatter[] = {
	"__cuda*", "cudaGetDevice", "cudaGetDeviceFlags", "cudaDeviceGetAttribute",
	"cuDeviceGetAttribute", "cuDeviceGet", "cuCtxGet*", "cuCtxPushCurrent*", "cuCtxPopCurrent*",
	"cuCtxSetCurrent", "cuDevicePrimaryCtxGetState", "cudaPointerGetAttributes",
	"cuPointerGetAttribute*", "cudaFuncGetAttributes", "cuFuncGetAttribute",
	"cudaStreamIsCapturing*", "cuStreamIsCapturing*", "cudaStreamGetCaptureInfo*",
	"cuStreamGetCaptureInfo*", "cudaThreadExchangeStreamCaptureMode",
	"cuThreadExchangeStreamCaptureMode", "cudaGetDriverEntryPoint*", "cuGetProcAddress*",
	"cudaGetExportTable", "cuGetExportTable", "cudaDriverGetVersion", "cudaRuntimeGetVersion",
	"cuDriverGetVersion",
	"ncclGetVersion", "ncclCommCount", "ncclCommCuDevice", "ncclCommUserRank", "ncclParam*",
};

bool cuda_proto_is_chatter(const struct cuda_proto *p)
{
	if (p->group == CUDA_GROUP_internal || p->group == CUDA_GROUP_error || p->group == CUDA_GROUP_occupancy)
		return true;
	for (int i = 0; i < ARRAY_SIZE(chatter); i++)
		if (!fnmatch(chatter[i], p->name, 0))
			return true;
	return false;
}

static int compare_type(const void *name, const void *type)
{
	return strcmp(name, ((const struct enum_type *)type)->name);
}

const struct cuda_enum *cuda_enum_find(const char *type)
{
	const struct enum_type *t;

	if (!strncmp(type, "enum ", 5))
		type += 5;
	t = bsearch(type, enum_types, ARRAY_SIZE(enum_types), sizeof(*t), compare_type);
	return t ? t->e : NULL;
}

const char *cuda_enum_name(const struct cuda_enum *e, long long value)
{
	for (int i = 0; i < e->n; i++)
		if (e->enumerators[i].value == value)
			return e->enumerators[i].name;
	return NULL;
}

bool cuda_enumerator_find(const char *name, long long *value)
{
	for (int i = 0; i < ARRAY_SIZE(enumerators); i++)
		if (!strcmp(enumerators[i].name, name)) {
			*value = enumerators[i].value;
			return true;
		}
	return false;
}

const struct cuda_enumerator *cuda_enumerator(int i)
{
	return i < ARRAY_SIZE(enumerators) ? &enumerators[i] : NULL;
}
