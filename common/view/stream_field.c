/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include "view/stream_field.h"

typedef unsigned long long u64;

u64 stream_of(const struct cuda_fn *fn, u64 passed)
{
	if (!fn->args.stream)
		return OUT_NONE;
	return passed ? passed : fn->args.per_thread ? STREAM_PER_THREAD : STREAM_LEGACY;
}

static bool is_none(u64 stream)
{
	return !stream || stream == OUT_NONE;
}

static const char *word_of(u64 stream, char text[32])
{
	if (stream == STREAM_LEGACY)
		return "default";
	if (stream == STREAM_PER_THREAD)
		return "per-thread";
	snprintf(text, 32, "0x%llx", stream);
	return text;
}

const char *stream_text(u64 stream, char text[32])
{
	if (is_none(stream))
		return "no stream";
	if (stream == STREAM_LEGACY)
		return "default stream";
	if (stream == STREAM_PER_THREAD)
		return "per-thread default stream";
	snprintf(text, 32, "stream 0x%llx", stream);
	return text;
}

static int text(FILE *file, const struct field *f, const void *at)
{
	u64 stream = *(const u64 *)at;
	char buf[32];

	return fprintf(file, "%*s", f->width, is_none(stream) ? "-" : word_of(stream, buf));
}

static void json(const void *at)
{
	u64 stream = *(const u64 *)at;
	char buf[32];

	if (is_none(stream))
		fputs("null", stdout);
	else
		printf("\"%s\"", word_of(stream, buf));
}

const struct field_type field_stream = { text, NULL, json };
