/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <math.h>
#include <string.h>
#include "api/cuda_structs.h"
#include "base/die.h"
#include "base/escape.h"
#include "cudatrace/trace_value.h"

static unsigned long long number(const void *at, unsigned size)
{
	unsigned long long n = 0;

	memcpy(&n, at, size < sizeof(n) ? size : sizeof(n));
	return n;
}

static long long extended(unsigned long long n, unsigned size)
{
	unsigned unused = size < 8 ? 64 - 8 * size : 0;

	return (long long)(n << unused) >> unused;
}

static void print_enum(FILE *f, bool json, const char *type, int n)
{
	const struct cuda_enum *e = cuda_enum_find(type);
	const char *name = e ? cuda_enum_name(e, n) : NULL;

	if (!name)
		fprintf(f, "%d", n);
	else
		fprintf(f, json ? "\"%s\"" : "%s", name);
}

/* JSON has no infinities. */
static void print_float(FILE *f, bool json, const void *at, unsigned size)
{
	float single;
	double n;

	memcpy(&single, at, sizeof(single));
	n = single;
	if (size == sizeof(n))
		memcpy(&n, at, sizeof(n));
	if (json && !isfinite(n))
		fputs("null", f);
	else
		fprintf(f, "%.9g", n);
}

static void print_dim3(FILE *f, bool json, const void *at)
{
	unsigned dim[3];

	memcpy(dim, at, sizeof(dim));
	fprintf(f, json ? "[%u,%u,%u]" : "{%u, %u, %u}", dim[0], dim[1], dim[2]);
}

static void print_words(FILE *f, bool json, const char *at, unsigned size)
{
	unsigned long long word;

	putc(json ? '[' : '{', f);
	for (unsigned i = 0; i < size; i += sizeof(word)) {
		word = number(at + i, size - i);
		fprintf(f, json ? "%s\"0x%llx\"" : "%s0x%llx", i ? json ? "," : ", " : "", word);
	}
	putc(json ? ']' : '}', f);
}

/* Prints the known members; for an unknown struct, or one larger than size, its words. */
static void print_struct(FILE *f, bool json, const char *type, const void *at, unsigned size)
{
	const struct cuda_member *first = cuda_struct_find(type);

	if (!first || size < cuda_struct_size(type)) {
		print_words(f, json, at, size);
		return;
	}
	putc('{', f);
	for (const struct cuda_member *m = first; m; m = cuda_struct_next(m)) {
		if (m != first)
			fputs(json ? "," : ", ", f);
		fprintf(f, json ? "\"%s\":" : "%s=", m->name);
		trace_value(f, json, &m->value, (const char *)at + m->offset);
	}
	putc('}', f);
}

void trace_value(FILE *f, bool json, const struct cuda_value *v, const void *at)
{
	unsigned long long n = number(at, v->size);

	switch (v->kind) {
	case CUDA_KIND_INT:
		fprintf(f, "%lld", extended(n, v->size));
		return;
	case CUDA_KIND_UINT:
		fprintf(f, "%llu", n);
		return;
	case CUDA_KIND_FLOAT:
		print_float(f, json, at, v->size);
		return;
	case CUDA_KIND_ENUM:
		print_enum(f, json, v->type, n);
		return;
	case CUDA_KIND_DIM3:
		print_dim3(f, json, at);
		return;
	case CUDA_KIND_STRUCT:
		print_struct(f, json, v->type, at, v->size);
		return;
	case CUDA_KIND_HANDLE:
	case CUDA_KIND_PTR:
	case CUDA_KIND_STR:
	case CUDA_KIND_FN:
		fprintf(f, json ? "\"0x%llx\"" : "0x%llx", n);
		return;
	}
	fputs(json ? "null" : "?", f);
}

void trace_string(FILE *f, bool json, const char *text, unsigned room)
{
	bool whole = strlen(text) + 1 < room;
	char *copy, *rest, *piece;

	if (json) {
		escape_json(f, text);
		return;
	}
	copy = rest = xstrdup(text);
	putc('"', f);
	while ((piece = strsep(&rest, "\""))) {
		escape_text(f, piece);
		fputs(rest ? "\\\"" : "\"", f);
	}
	if (!whole)
		fputs("...", f);
	free(copy);
}
