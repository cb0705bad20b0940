/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "cudamallocsnoop/stream_field.h"

typedef unsigned long long u64;

u64 stream_of(const struct cuda_fn *fn, u64 passed)
{
	if (!fn->args.stream)
		return OUT_NONE;
	return passed ? passed : fn->args.per_thread ? STREAM_PER_THREAD : STREAM_LEGACY;
}

static const char *text_of(u64 stream, char text[24])
{
	if (stream == STREAM_LEGACY)
		return "default";
	if (stream == STREAM_PER_THREAD)
		return "per-thread";
	snprintf(text, 24, "0x%llx", stream);
	return text;
}

static int text(FILE *file, const struct field *f, const void *at)
{
	u64 stream = *(const u64 *)at;
	char buf[24];

	return fprintf(file, "%*s", f->width, stream == OUT_NONE ? "-" : text_of(stream, buf));
}

static void json(const void *at)
{
	u64 stream = *(const u64 *)at;
	char buf[24];

	if (stream == OUT_NONE)
		fputs("null", stdout);
	else
		printf("\"%s\"", text_of(stream, buf));
}

const struct field_type field_stream = { text, NULL, json };
