/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <string.h>
#include "cudatrace/trace_struct.h"
#include "cudatrace/trace_value.h"

static const struct field {
	const char *of, *name;
	unsigned at;
	struct cuda_value value;
} fields[] = {
#define X(of, name, kind, type, at, size) { #of, #name, at, { type, CUDA_KIND_##kind, size } },
	TRACE_STRUCTS(X)
#undef X
};
enum { FIELDS = sizeof(fields) / sizeof(*fields) };

static const struct field *first_of(const char *type)
{
	static const char word[] = "struct ";

	if (!strncmp(type, word, sizeof(word) - 1))
		type += sizeof(word) - 1;
	for (int i = 0; i < FIELDS; i++)
		if (!strcmp(fields[i].of, type))
			return &fields[i];
	return NULL;
}

unsigned trace_struct_size(const char *type)
{
	const struct field *first = first_of(type), *f = first;

	while (f && f < fields + FIELDS && !strcmp(f->of, first->of))
		f++;
	return f ? f[-1].at + f[-1].value.size : 0;
}

static void print_words(FILE *f, bool json, const char *at, unsigned size)
{
	unsigned long long word;

	putc(json ? '[' : '{', f);
	for (unsigned i = 0; i < size; i += sizeof(word)) {
		unsigned n = size - i < sizeof(word) ? size - i : sizeof(word);

		word = 0;
		memcpy(&word, at + i, n);
		fprintf(f, json ? "%s\"0x%llx\"" : "%s0x%llx", i ? json ? "," : ", " : "", word);
	}
	putc(json ? ']' : '}', f);
}

void trace_struct(FILE *f, bool json, const char *type, const void *at, unsigned size)
{
	const struct field *first = first_of(type);

	if (!first || size < trace_struct_size(type)) {
		print_words(f, json, at, size);
		return;
	}
	putc('{', f);
	for (const struct field *i = first; i < fields + FIELDS && !strcmp(i->of, first->of); i++) {
		if (i > first)
			fputs(json ? "," : ", ", f);
		fprintf(f, json ? "\"%s\":" : "%s=", i->name);
		trace_value(f, json, &i->value, (const char *)at + i->at);
	}
	putc('}', f);
}
