/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
#include <stdio.h>
#include <string.h>
#include "abi/device.h"
#include "base/escape.h"
#include "view/columns.h"

/* Devices as tools print them. */

void devices_see(struct devices_seen *seen, unsigned int device)
{
	if (device == DEVICE_NONE)
		return;
	seen->several |= seen->some && device != seen->first;
	if (!seen->some)
		seen->first = device;
	seen->some = true;
}

const char *device_text(unsigned int device, char text[16])
{
	if (device == DEVICE_NONE)
		return "-";
	if (!device)
		return "?";
	snprintf(text, 16, "%u", device - 1);
	return text;
}

static int text_of(FILE *file, const struct field *f, const void *at)
{
	char text[16];

	return fprintf(file, "%*s", f->width, device_text(*(const unsigned int *)at, text));
}

static void columns_json(const void *at)
{
	unsigned int device = *(const unsigned int *)at;
	char text[16];

	fputs(device && device != DEVICE_NONE ? device_text(device, text) : "null", stdout);
}

const struct field_type field_device = { text_of, NULL, columns_json };

static void devices_json(const void *at)
{
	const unsigned long long devices = *(const unsigned long long *)at;
	const char *comma = "";

	putchar('[');
	for (int i = 0; i < DEVICES; i++)
		if (devices >> i & 1) {
			printf("%s%d", comma, i);
			comma = ",";
		}
	putchar(']');
}

const struct field_type field_devices = { NULL, NULL, devices_json };

/* Streams as tools print them. */

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

static int columns_text(FILE *file, const struct field *f, const void *at)
{
	u64 stream = *(const u64 *)at;
	char buf[32];

	return fprintf(file, "%*s", f->width, is_none(stream) ? "-" : word_of(stream, buf));
}

static void stream_field_json(const void *at)
{
	u64 stream = *(const u64 *)at;
	char buf[32];

	if (is_none(stream))
		fputs("null", stdout);
	else
		printf("\"%s\"", word_of(stream, buf));
}

const struct field_type field_stream = { columns_text, NULL, stream_field_json };

/* Processes as tools print them. */

void process_text(int pid, const char *comm, const char *container)
{
	printf("pid %d (", pid);
	escape_text(stdout, comm);
	printf(container ? ") in container %s" : ")", container);
}

static void copy(struct field *to, const struct field *from)
{
	do
		*to++ = *from;
	while ((from++)->type);
}

static struct field *find(struct field *fields, const char *key)
{
	while (fields->type && (!fields->key || strcmp(fields->key, key)))
		fields++;
	return fields->type ? fields : NULL;
}

void columns_remove(struct field *fields, const char *key)
{
	struct field *f = find(fields, key);

	if (f)
		copy(f, f + 1);
}

bool columns_show(struct field *fields, const char *key, const char *head)
{
	struct field *f = find(fields, key);

	if (!f || f->head)
		return false;
	f->head = head;
	return true;
}

void columns_of_calls(struct field *to, const struct field *from, bool times, bool stacks)
{
	struct field *time;

	copy(to, from);
	time = find(to, "time");
	if (time && !times)
		time->head = NULL;
	if (!stacks)
		columns_remove(to, "stack");
}

void columns_of_groups(struct field *to, const struct field *from, bool pids, bool stacks)
{
	copy(to, from);
	if (!pids) {
		columns_remove(to, "pid");
		columns_remove(to, "comm");
		columns_remove(to, "container");
	}
	if (!stacks)
		columns_remove(to, "stack");
}
