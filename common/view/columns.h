/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Turns fields on and off by their JSON keys, for options that several tools have. */
#ifndef VIEW_COLUMNS_H
#define VIEW_COLUMNS_H
#include <stdbool.h>
#include "abi/stream.h"
#include "api/cuda_fn.h"
#include "cli/field.h"

extern const struct field_type field_device;

/* unsigned int, as in abi/device.h: a number, ? and null if it is not known; DEVICE_NONE prints as - and
 * null. */
#define OUT_DEVICE (&field_device)

extern const struct field_type field_devices;

/* unsigned long long: bit n is device n; JSON only. */
#define OUT_DEVICES (&field_devices)

/* The devices that a tool's text may have to distinguish; starts zeroed. */
struct devices_seen {
	bool some, several;
	unsigned int first;
};

/* unsigned long long, from stream_of(), or 0 for none: "default", "per-thread" or 0x…; strings in JSON. */
extern const struct field_type field_stream;
#define OUT_STREAM (&field_stream)

/* Fields of a row that has a struct call (model/calls.h) as its member "call", and the text "result". */
#define CALL_BEGIN_FIELDS								\
	{ "time", "TIME", -12, OUT_TIME, AT(call.time) },				\
	{ "pid", "PID", -7, OUT_INT, AT(call.pid) },				\
	{ "tid", NULL, 0, OUT_INT, AT(call.tid) },				\
	{ "comm", "COMM", -15, OUT_STR, AT(call.comm) }
#define CALL_END_FIELDS									\
	{ "error", NULL, 0, OUT_STR, AT(call.error) },	/* its name; null if none or unknown */ \
	{ NULL, "RESULT", -1, OUT_STR, AT(result) },				\
	{ "stack", NULL, 0, OUT_STACK, AT(call.stack) }

/* Copies a table of fields, including the terminator.  Without times the field "time" has no text
 * column; without stacks the field "stack" is left out. */
void columns_of_calls(struct field *to, const struct field *from, bool times, bool stacks);

/* The same for groups of calls: without pids the fields "pid", "comm" and "container" are left
 * out. */
void columns_of_groups(struct field *to, const struct field *from, bool pids, bool stacks);

/* Gives the field with this key a text column with this head.  Returns false if it has one. */
bool columns_show(struct field *fields, const char *key, const char *head);

/* Removes the field with this key, if there is one. */
void columns_remove(struct field *fields, const char *key);

/* Adds a device; DEVICE_NONE is no other. */
void devices_see(struct devices_seen *seen, unsigned int device);

/* Returns "3", or "?" if it is not known, in text or not. */
const char *device_text(unsigned int device, char text[16]);

/* Returns the stream of a call that was passed this one; OUT_NONE if the function takes none. */
unsigned long long stream_of(const struct cuda_fn *fn, unsigned long long passed);

/* Returns "default stream", "per-thread default stream", "stream 0x…", or "no stream" for none; in text or
 * not. */
const char *stream_text(unsigned long long stream, char text[32]);

/* Prints "pid 4711 (train)" and, unless container is NULL, " in container 0123456789ab".  comm is untrusted. */
void process_text(int pid, const char *comm, const char *container);

#endif
