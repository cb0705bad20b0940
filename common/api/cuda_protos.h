/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Every function of the runtime, the driver, NCCL and NVRTC as NVIDIA's headers declare it, and their
 * enums: from cuda_protos.tbl, nccl_protos.tbl and nvrtc_protos.tbl, which scripts/gen-protos makes from the headers.  (The
 * meaning of each call to the tools is in cuda_api.tbl: see cuda_fn.h.) */
#ifndef API_CUDA_PROTOS_H
#define API_CUDA_PROTOS_H
#include <stdbool.h>
#include "api/cuda_api.h"

/* The kind of a value. */
enum cuda_kind {
	CUDA_KIND_NONE,		/* void: the function has no result */
	CUDA_KIND_INT,		/* signed, of size bytes; bool and char are UINT of one byte */
	CUDA_KIND_UINT,
	CUDA_KIND_FLOAT,	/* passed in a vector register, which probes cannot read */
	CUDA_KIND_ENUM,		/* 4 bytes, of cuda_enum_find(type) */
	CUDA_KIND_HANDLE,	/* a pointer to an opaque CUDA object: CUstream, cudaEvent_t */
	CUDA_KIND_PTR,		/* any other pointer; CUdeviceptr too */
	CUDA_KIND_STR,		/* const char *: a string.  With out: a char * buffer that the
				 * function fills, as large as the next argument says */
	CUDA_KIND_FN,		/* a function */
	CUDA_KIND_DIM3,		/* 12 bytes in 2 words */
	CUDA_KIND_STRUCT,	/* or union, of size bytes */
};

struct cuda_value {
	const char *type;	/* as declared, without const: "cudaMemcpyKind", "size_t" */
	unsigned char kind;	/* enum cuda_kind */
	unsigned short size;	/* bytes */
};

struct cuda_param {
	const char *name;
	struct cuda_value value;
	unsigned char place;	/* a register or the stack, as in struct cuda_args; 0: a vector register */
	bool by_reference;	/* the address of a copy is passed there: CALL_REFERENCES (machine/call.h) */
	bool out;		/* the function may write there: to is neither const nor void */
	struct cuda_value to;	/* what it points to, const or not; CUDA_KIND_NONE if that is void,
				 * char or opaque.  The size of a struct is 0 if no function takes
				 * it by value. */
};

/* The number of argument words that it takes. */
static inline int cuda_param_words(const struct cuda_param *p)
{
	return p->by_reference ? 1 : (p->value.size + 7) / 8;
}

/* The topic of a function, by the sections of NVIDIA's manual.  Operations, communicators and groups are NCCL's. */
enum cuda_group {
#define CUDA_GROUPS(X)									\
	X(other) X(device) X(context) X(error) X(module) X(memory) X(copy) X(launch)	\
	X(stream) X(event) X(sync) X(graph) X(array) X(interop) X(occupancy) X(profiler)	\
	X(internal) X(operation) X(comm) X(group)
#define X(name) CUDA_GROUP_##name,
	CUDA_GROUPS(X)
#undef X
	CUDA_GROUP_MAX
};

struct cuda_proto {
	const char *name;	/* the exported symbol: cudaMemcpyAsync_ptsz */
	enum cuda_lib lib;
	unsigned char group;	/* enum cuda_group */
	struct cuda_value result;	/* cudaError_t, CUresult, ncclResult_t and nvrtcResult are CUDA_KIND_ENUM.  Type "?" if
					 * no header has the function: its signature is unknown */
	unsigned char nparams;
	const struct cuda_param *params;
	/* The first and the last version of CUDA known to have it, as in CUDA_VERSION: 12040 is
	 * 12.4, 12999 the last 12.x; of NCCL: 2160 is 2.16.  until is 0 if the newest known version has it. */
	int since, until;
};

/* The newest known form of each function, sorted by name; its index is the function's id. */
extern const struct cuda_proto cuda_protos[];
extern const int cuda_protos_n;

/* Returns the id of the function of that name, or -1.  Fast enough to call for every symbol of a
 * large program. */
int cuda_proto_find(const char *symbol);

/* Returns the function as that version of CUDA had it, perhaps with other parameters;
 * &cuda_protos[id] if that is unknown. */
const struct cuda_proto *cuda_proto_in(int id, int version);

/* Returns the 8-byte words of arguments that the function takes on the stack, in the version that takes most; -1 if no
 * header has it. */
int cuda_proto_words(const char *symbol);

/* Return true if its calls are frequent, without side effects, and mostly made by libraries. */
bool cuda_proto_is_chatter(const struct cuda_proto *p);

struct cuda_enum {
	const char *type;
	int n;
	const struct cuda_enumerator { const char *name; long long value; } *enumerators;
};

/* Finds an enum by its type name, with or without "enum "; NULL if there is none. */
const struct cuda_enum *cuda_enum_find(const char *type);

/* Returns the first name of a value; NULL if it has none. */
const char *cuda_enum_name(const struct cuda_enum *e, long long value);

/* Looks up the value of an enumerator of any enum; false if there is none of that name. */
bool cuda_enumerator_find(const char *name, long long *value);

/* The enumerators of all enums, indexed from 0; NULL past the last. */
const struct cuda_enumerator *cuda_enumerator(int i);

#endif
