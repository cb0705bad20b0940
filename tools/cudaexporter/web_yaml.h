/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Reads mappings of strings out of a YAML file, as strictly as they can be read: no aliases, anchors, tags,
 * second documents or keys that stand twice. */
#ifndef WEB_YAML_H
#define WEB_YAML_H
#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

/* Private, but for error: NULL as long as nothing is wrong; the owner frees it. */
struct web_yaml {
	yaml_parser_t parser;
	yaml_event_t event;		/* the current one */
	const char *file;
	char *error;			/* "FILE:LINE: what is wrong" */
};

/* A key of a mapping, whose value is what is read next: by web_yaml_string() or web_yaml_mapping(), whose result
 * it returns.  line counts from 1. */
typedef bool web_yaml_fn(void *ctx, struct web_yaml *y, const char *key, int line);

/* Reads text, whose root is a mapping, or empty.  file is for messages; it must outlive the call.  Returns NULL,
 * or the error, which the caller frees. */
char *web_yaml_read(const char *file, const char *text, size_t size, web_yaml_fn *fn, void *ctx);

/* Calls fn for each key of the mapping that is a value.  what: the value's key. */
bool web_yaml_mapping(struct web_yaml *y, const char *what, web_yaml_fn *fn, void *ctx);

/* Returns the string that is the value of a key; the caller frees it.  NULL: it is none, or empty. */
char *web_yaml_string(struct web_yaml *y, const char *key);

/* Says what is wrong on a line; keeps only the first error.  Returns false. */
bool web_yaml_error(struct web_yaml *y, int line, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#endif
